/** Compares what the model predicts for one, two and three instances with what was measured. */
import { kinds, type Measured, type MeasuredPoint } from "./measured.ts";
import { simulate } from "./simulate.ts";

export interface Reproduced {
  readonly point: MeasuredPoint;
  readonly predicted: { readonly instanceUs: number };
  /** Predicted / measured - 1. */
  readonly error: { readonly instanceUs: number };
}

/** From the costs of each kind by itself, measured on one instance without nginx. The points themselves are not used. */
export function reproduce(measured: Measured): Reproduced[] {
  const { calibration, points, mix, balancerUs, idle, besideTwo } = measured;
  return points.map((point) => {
    const { workload, instances, perSecond } = point;
    const shares = workload === "mix" ? mix : { read: 1, list: 0, search: 0 };
    const used = kinds.filter((kind) => shares[kind] > 0);
    const simulated = simulate({
      kinds: Object.fromEntries(used.map((kind) => [kind, { share: shares[kind], ...calibration[kind] }])),
      instances,
      instanceCores: 1,
      databaseCores: 1,
      balancerUs,
      balancerWorkers: 1,
      load: { perSecond },
      requests: 20_000,
    });
    // An instance also takes CPU time when it is idle, which is divided among its requests.
    const idleUs = (idle.instanceUs * instances) / perSecond;
    const instanceUs = (simulated.instanceUs + idleUs) * (1 + ((besideTwo - 1) * (instances - 1)) / 2);
    return { point, predicted: { instanceUs }, error: { instanceUs: instanceUs / point.instanceUs - 1 } };
  });
}
