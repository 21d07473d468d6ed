/** Compares what the model predicts for one, two and three instances with what was measured. */
import { kinds, type Measured, type MeasuredPoint } from "./measured.ts";
import { simulate } from "./simulate.ts";

export interface Reproduced {
  readonly point: MeasuredPoint;
  readonly predicted: { readonly perSecond: number; readonly instanceUs: number };
  /** Predicted / measured - 1. */
  readonly error: { readonly perSecond: number; readonly instanceUs: number };
}

/** From the costs of each kind by itself, measured on one instance without nginx. No point is used. */
export function reproduce(measured: Measured): Reproduced[] {
  const { calibration, points, quotaCores, inFlight, mix, balancerUs } = measured;
  return points.map((point) => {
    const shares = point.workload === "mix" ? mix : { read: 1, list: 0, search: 0 };
    const used = kinds.filter((kind) => shares[kind] > 0);
    const { perSecond, instanceUs } = simulate({
      kinds: Object.fromEntries(used.map((kind) => [kind, { share: shares[kind], ...calibration[kind] }])),
      instances: point.instances,
      instanceCores: quotaCores,
      databaseCores: 1,
      balancerUs,
      balancerWorkers: 1,
      load: { inFlight: inFlight * point.instances },
      requests: 20_000,
    });
    return {
      point,
      predicted: { perSecond, instanceUs },
      error: { perSecond: perSecond / point.perSecond - 1, instanceUs: instanceUs / point.instanceUs - 1 },
    };
  });
}
