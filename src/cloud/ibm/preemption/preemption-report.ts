/** Reports preemptions as events and metrics: once per machine, and only after the notice was recorded. */
import type { Node } from '../../../apis/kubernetes/node.ts';
import type { EventRecorder } from '../../../kube/event-recorder.ts';
import type { CounterMetric, Metrics } from '../../../platform/metrics.ts';
import { RecentKeys } from '../../../platform/recent-keys.ts';
import type { VpcInstance } from '../api/vpc-types.ts';
import type { Ownership } from '../launch/ownership.ts';

export interface PreemptionReportOptions {
  readonly metrics: Metrics;
  readonly recorder: EventRecorder;
  readonly ownership: Ownership;
  readonly nodes: () => readonly Node[];
}

const REMEMBERED = 10_000;

export class PreemptionReport {
  readonly #options: PreemptionReportOptions;
  readonly #preemptions: CounterMetric<'instance_type' | 'zone'>;
  readonly #told = new RecentKeys(REMEMBERED);

  constructor(options: PreemptionReportOptions) {
    this.#options = options;
    this.#preemptions = options.metrics.counter({
      name: 'spindrift_ibm_spot_preemptions_total',
      help: 'Spot machines that IBM Cloud preempted. One series for each profile and zone.',
      labels: ['instance_type', 'zone'],
    });
  }

  preempted({ id, name, profile, zone }: VpcInstance): void {
    const { ownership, recorder, nodes } = this.#options;
    if (!this.#told.add(id)) return;
    this.#preemptions.add({ instance_type: profile.name, zone: zone.name });
    const message = `IBM Cloud preempted the spot machine ${id} (${profile.name} in ${zone.name}); this offering is not used for an hour`;
    const about = [ownership.claimOf(name), nodes().find(({ spec }) => spec?.providerID?.endsWith(`/${id}`) === true)];
    for (const object of about)
      if (object !== undefined) recorder.record({ object, type: 'Warning', reason: 'SpotPreemption', message });
  }
}
