/** Replicas of services that are kept ready, for dashboards. */
import type { Metrics } from '../../platform/metrics.ts';
import type { KeptServices } from '../../state/availability/kept-services.ts';
import { readyAndStaying } from '../../state/availability/replica-demand.ts';

type Figure = 'wanted' | 'ready' | 'spot' | 'on-demand';

/** Counts when it is asked: up to four series for each service that has the annotation. */
export function serviceGauges({
  metrics,
  services,
}: {
  readonly metrics: Metrics;
  readonly services: KeptServices;
}): void {
  metrics.counted(
    {
      name: 'spindrift_services_replicas',
      help: 'Replicas of services that are kept ready: wanted and ready ones, and those on spot and on demand; four series a service',
      labels: ['kind', 'namespace', 'name', 'replicas'],
    },
    function* () {
      for (const service of services.list()) {
        const { kind, metadata } = service.object;
        const replicas = services.replicas(service);
        const figures: Readonly<Record<Figure, number>> = {
          wanted: 'problem' in service.rule ? 0 : service.rule.ready,
          ready: readyAndStaying(replicas),
          spot: replicas.filter(({ capacity }) => capacity === 'spot').length,
          'on-demand': replicas.filter(({ capacity }) => capacity === 'on-demand').length,
        };
        const labels = { kind, namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
        for (const [figure, value] of Object.entries(figures)) yield [{ ...labels, replicas: figure }, value];
      }
    },
  );
}
