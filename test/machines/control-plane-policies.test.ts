/** 39: the API server refuses control planes on spot capacity, on a real control plane, with the manifests that people apply. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { kindOf } from '../../src/apis/cluster-api/core-kinds.ts';
import { CONTROL_PLANE_GROUP, LABEL_CONTROL_PLANE } from '../../src/apis/cluster-api/names.ts';
import { type KubeObject, type Resource, resource } from '../../src/apis/kubernetes/object.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../src/apis/schema/custom-resource-definition.ts';
import { infrastructureKind, openDefinition } from '../../src/cloud/cluster-api/core/open-definitions.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { connect } from '../../src/kube/connect.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { untilSo } from '../kubernetes/harness/until-so.ts';

const clock = new RealClock();
const MACHINES = infrastructureKind('GCPMachine');
const TEMPLATES = infrastructureKind('GCPMachineTemplate');
const CONTROL_PLANES = kindOf(CONTROL_PLANE_GROUP, 'v1beta1', 'KubeadmControlPlane');
const TALOS = kindOf(CONTROL_PLANE_GROUP, 'v1alpha3', 'TalosControlPlane');
const RKE2 = kindOf(CONTROL_PLANE_GROUP, 'v1alpha1', 'RKE2ControlPlane');
const MANAGED = kindOf(CONTROL_PLANE_GROUP, 'v1beta1', 'GCPManagedControlPlane');
const ADVICE = 'a control plane on spot capacity may lose the quorum of etcd';

describe('policies against control planes on spot', () => {
  let client: KubeClient;
  let connection: Connection;
  let serial = 0;

  const create = (
    kind: Resource,
    spec: object,
    labels: Readonly<Record<string, string>> = {},
    name = `o-${++serial}`,
  ): Promise<KubeObject> =>
    client.create(kind, {
      apiVersion: `${kind.group}/${kind.version}`,
      kind: kind.kind,
      metadata: { name, namespace: 'default', labels },
      ...{ spec },
    } as KubeObject);
  const refused = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => '',
      (error: Error) => error.message,
    );

  beforeAll(async () => {
    const { kubeconfig } = inject('controlPlane');
    ({ client, connection } = await connect({ clock, kubeconfig }));
    for (const kind of [MACHINES, TEMPLATES, CONTROL_PLANES, TALOS, RKE2, MANAGED])
      await client.create(CUSTOM_RESOURCE_DEFINITIONS, openDefinition(kind));
    const file = join(import.meta.dirname, '..', '..', 'charts', 'spindrift', 'policies', 'gcpmachine.yaml');
    for (const document of parseAllDocuments(readFileSync(file, 'utf8'))) {
      const object = document.toJS() as KubeObject;
      const plural =
        object.kind === 'ValidatingAdmissionPolicy'
          ? 'validatingadmissionpolicies'
          : 'validatingadmissionpolicybindings';
      await client.create(resource(object.apiVersion, object.kind, plural, 'cluster'), object);
    }
    const missing = async (): Promise<string | undefined> =>
      (await refused(create(MACHINES, { preemptible: true }, { [LABEL_CONTROL_PLANE]: '' }))).includes(ADVICE)
        ? undefined
        : 'the policy does not hold yet';
    await untilSo({ clock, withinMs: 60_000, missing });
  });

  afterAll(() => connection?.close());

  it('refuse machines of the control plane that are spot, and no other machine', async () => {
    expect(await refused(create(MACHINES, { provisioningModel: 'Spot' }, { [LABEL_CONTROL_PLANE]: '' }))).toContain(
      ADVICE,
    );
    expect(await refused(create(MACHINES, { instanceType: 'n2-standard-2' }, { [LABEL_CONTROL_PLANE]: '' }))).toBe('');
    expect(await refused(create(MACHINES, { preemptible: true }))).toBe('');
  });

  it('refuse control planes whose template is spot, in both shapes of the reference', async () => {
    await create(TEMPLATES, { template: { spec: { preemptible: true } } }, {}, 'spot');
    await create(TEMPLATES, { template: { spec: { preemptible: false } } }, {}, 'plain');
    const reference = (name: string) => ({ infrastructureRef: { kind: 'GCPMachineTemplate', name } });
    const withTemplate = (machineTemplate: object) => refused(create(CONTROL_PLANES, { machineTemplate }));
    const missing = async (): Promise<string | undefined> =>
      (await withTemplate(reference('spot'))).includes(ADVICE)
        ? undefined
        : 'a control plane with a spot template was taken';
    await untilSo({ clock, withinMs: 30_000, missing });
    expect(await withTemplate({ spec: reference('spot') })).toContain(ADVICE);
    expect(await withTemplate(reference('plain'))).toBe('');
    expect(await withTemplate({ spec: reference('plain') })).toBe('');
    const other = { kind: 'AWSMachineTemplate', name: 'spot' };
    expect(await withTemplate({ infrastructureRef: other })).toBe('');
    // Control planes of other kinds have the reference elsewhere, and managed ones have none.
    for (const [kind, field] of [
      [TALOS, 'infrastructureTemplate'],
      [RKE2, 'infrastructureRef'],
    ] as const) {
      const withReference = (name: string) => refused(create(kind, { [field]: { kind: 'GCPMachineTemplate', name } }));
      expect(await withReference('spot')).toContain(ADVICE);
      expect(await withReference('plain')).toBe('');
    }
    expect(await refused(create(MANAGED, { region: 'us-east1' }))).toBe('');
  });
});
