/** The resource `pressmark://activity`: what clients were given. Visible to the owner only. */
import type { DeliveryLog } from "./delivery-log.ts";
import type { StatusPage } from "./status-mount.ts";

export function activityPage({ deliveries, follow }: DeliveryLog): StatusPage {
  return {
    entry: {
      path: "activity",
      name: "activity",
      title: "What clients were given",
      description: "What was gathered, found, read and inserted by which client, without the contents",
      mimeType: "application/json",
    },
    isOwners: true,
    say: async () => ({ deliveries: await deliveries() }),
    follow,
  };
}
