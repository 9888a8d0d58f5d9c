/**
 * Looks after all machines of this cluster, claimed or not: the label for interruptible capacity on their Nodes, machines of the
 * control plane that are spot, machines that get no instance, and machines whose instance is gone while their provider would not notice.
 */
import type { CoreMachine } from '../../../apis/cluster-api/machine.ts';
import {
  ANNOTATION_SKIP_REMEDIATION,
  LABEL_CONTROL_PLANE,
  LABEL_INTERRUPTIBLE,
  LABEL_SET_NAME,
} from '../../../apis/cluster-api/names.ts';
import { referred } from '../../../apis/cluster-api/reference.ts';
import { NODES, type Node } from '../../../apis/kubernetes/node.ts';
import { keyOf } from '../../../apis/kubernetes/object.ts';
import type { KubeClient } from '../../../kube/client.ts';
import type { EventRecorder } from '../../../kube/event-recorder.ts';
import type { Informer } from '../../../kube/informer.ts';
import type { Clock } from '../../../platform/clock.ts';
import { asError, hasCode } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/logger.ts';
import { type CreateFailure, createFailure, isInstanceGone } from '../infrastructure/create-failure.ts';
import { isInterruptible, machineSettings } from '../infrastructure/machine-settings.ts';
import type { InfrastructureObject, InfrastructureObjects } from '../infrastructure-objects.ts';
import type { ManagementCluster } from '../management-cluster.ts';
import { ANNOTATION_REMEDIATION_HELD, LABEL_CLAIM_UID } from '../own-names.ts';
import { decideInterruptibleLabel } from './decide-label.ts';
import { withMachineCondition } from './machine-condition.ts';
import type { RemediationBackoff } from './remediation-backoff.ts';

export interface MachineCareOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly management: ManagementCluster;
  readonly infrastructure: InfrastructureObjects;
  /** Of the cluster that machines become Nodes of. */
  readonly workload: KubeClient;
  readonly nodes: Informer<Node>;
  /** Writes events into the management cluster. */
  readonly recorder: EventRecorder;
  readonly backoff: RemediationBackoff;
}

const LOOK_EVERY_MS = 15_000;

export class MachineCare {
  readonly name = 'cluster-api.machine-care';
  readonly #options: MachineCareOptions;

  constructor(options: MachineCareOptions) {
    this.#options = options;
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    while (!signal.aborted) {
      try {
        await this.look(signal);
      } catch (error) {
        if (signal.aborted) return;
        logger.warn('cannot list machines', { error });
      }
      await clock.sleep(LOOK_EVERY_MS, signal).catch(() => {});
    }
  }

  /** Looks at every machine once. */
  async look(signal: AbortSignal): Promise<void> {
    const { management, infrastructure, logger } = this.#options;
    for (const machine of await management.machines(signal)) {
      const reference = referred(machine.spec?.infrastructureRef);
      if (reference === undefined) continue;
      try {
        const found = await infrastructure.recent(reference, machine.metadata.namespace ?? '', signal);
        if (found !== undefined) await this.#care(machine, found, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        logger.warn('cannot look after a machine', { machine: keyOf(machine), error });
      }
    }
  }

  async #care(machine: CoreMachine, found: InfrastructureObject, signal: AbortSignal): Promise<void> {
    const { recorder } = this.#options;
    const { kind, spec = {}, status } = found;
    let interruptible: boolean;
    try {
      interruptible = isInterruptible(kind, spec, status);
    } catch (error) {
      recorder.record({
        object: machine,
        type: 'Warning',
        reason: 'InterruptibleUnreadable',
        message: asError(error).message,
      });
      return;
    }
    await this.#label(machine, interruptible, signal);
    const isControlPlane = machine.metadata.labels?.[LABEL_CONTROL_PLANE] !== undefined;
    if (interruptible && isControlPlane) {
      const message = `${kind} ${found.metadata.name} runs a control plane on capacity that may be taken back: etcd may lose its quorum; remove the spot fields from its template`;
      recorder.record({ object: machine, type: 'Warning', reason: 'ControlPlaneOnSpot', message });
    }
    if (machine.metadata.deletionTimestamp !== undefined || isControlPlane) return;
    await this.#hold(machine, found, signal);
    await this.#guard(machine, found, interruptible, signal);
  }

  async #label(machine: CoreMachine, interruptible: boolean, signal: AbortSignal): Promise<void> {
    const { nodes, workload, recorder } = this.#options;
    const name = machine.status?.nodeRef?.name;
    const node = name === undefined ? undefined : nodes.get({ name });
    const body = node === undefined ? undefined : decideInterruptibleLabel(node, interruptible);
    if (node === undefined || body === undefined) return;
    await ignoringGone(workload.patch(NODES, { name: name ?? '' }, { type: 'merge', body }, { signal }));
    if (interruptible) {
      const message = `label ${LABEL_INTERRUPTIBLE} was set on node ${name}`;
      recorder.record({ object: machine, type: 'Normal', reason: 'SuccessfulSetInterruptibleNodeLabel', message });
    }
  }

  /** Makes a lasting failure visible, and puts off the remediation of unclaimed machines. The driver takes back machines of claims. */
  async #hold(machine: CoreMachine, found: InfrastructureObject, signal: AbortSignal): Promise<void> {
    const { backoff, recorder, management } = this.#options;
    const { client, kinds } = management.options;
    const { uid = '', labels, annotations, namespace } = machine.metadata;
    const set = `${namespace}/${labels?.[LABEL_SET_NAME] ?? ''}`;
    const isHeld = annotations?.[ANNOTATION_REMEDIATION_HELD] !== undefined;
    if (machine.spec?.providerID !== undefined) {
      backoff.succeeded(set);
      if (isHeld) await this.#release(machine, signal);
      await this.#say(machine, undefined, signal);
      return;
    }
    const failure = createFailure(machineSettings(found.kind, found.spec ?? {}).provider, found.status ?? {});
    if (failure === undefined) return;
    recorder.record({ object: machine, type: 'Warning', reason: 'InstanceCreateFailed', message: failure.message });
    await this.#say(machine, failure, signal);
    if (labels?.[LABEL_CLAIM_UID] !== undefined || labels?.[LABEL_SET_NAME] === undefined) return;
    const heldMs = backoff.heldMs(set, uid);
    if (heldMs === 0) {
      if (isHeld) await this.#release(machine, signal);
      return;
    }
    if (isHeld || annotations?.[ANNOTATION_SKIP_REMEDIATION] !== undefined) return;
    const held = `for ${Math.round(heldMs / 1000)} s, as ${backoff.failures(set)} machines of the set failed in a row`;
    const body = {
      metadata: { annotations: { [ANNOTATION_SKIP_REMEDIATION]: '', [ANNOTATION_REMEDIATION_HELD]: held } },
    };
    await ignoringGone(client.patch(kinds.machines, keyOf(machine), { type: 'merge', body }, { signal }));
  }

  async #say(machine: CoreMachine, failure: CreateFailure | undefined, signal: AbortSignal): Promise<void> {
    const { client, kinds } = this.#options.management.options;
    const status = withMachineCondition(machine, failure, this.#options.clock.now());
    if (status === undefined) return;
    const body = { metadata: { resourceVersion: machine.metadata.resourceVersion }, status };
    await ignoringGone(
      client.patch(kinds.machines, keyOf(machine), { type: 'merge', body }, { signal, subresource: 'status' }),
    );
  }

  async #release(machine: CoreMachine, signal: AbortSignal): Promise<void> {
    const { client, kinds } = this.#options.management.options;
    const body = {
      metadata: { annotations: { [ANNOTATION_SKIP_REMEDIATION]: null, [ANNOTATION_REMEDIATION_HELD]: null } },
    };
    await ignoringGone(client.patch(kinds.machines, keyOf(machine), { type: 'merge', body }, { signal }));
  }

  /**
   * One machine, one instance: a machine whose instance was taken back is deleted, so that its disks and interfaces are deleted and
   * its provider does not make the instance anew. Machines of claims get a notice instead: replacement first.
   */
  async #guard(
    machine: CoreMachine,
    found: InfrastructureObject,
    interruptible: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const { recorder, management } = this.#options;
    const { client, kinds } = management.options;
    const { uid, labels } = machine.metadata;
    const gone =
      interruptible && machine.spec?.providerID !== undefined ? isInstanceGone(found.status ?? {}) : undefined;
    if (gone === undefined || labels?.[LABEL_CLAIM_UID] !== undefined || labels?.[LABEL_SET_NAME] === undefined) return;
    recorder.record({
      object: machine,
      type: 'Warning',
      reason: 'InstanceTakenBack',
      message: `${gone}: the machine is deleted, and its MachineSet makes another`,
    });
    const preconditions = uid === undefined ? {} : { preconditions: { uid } };
    await ignoringGone(client.delete(kinds.machines, keyOf(machine), { signal, ...preconditions }));
  }
}

async function ignoringGone(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!hasCode(error, 'KUBE_NOT_FOUND', 'KUBE_CONFLICT')) throw error;
  }
}
