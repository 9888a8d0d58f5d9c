/** Pods that serve a model, on the embedded cluster with the whole autoscaler, in virtual time: the example of llmaz's design. */
import { describe, expect, it } from 'vitest';
import { LABEL_INSTANCE_TYPE } from '../apis/karpenter/labels.ts';
import { NODE_CLAIMS } from '../apis/karpenter/node-claim.ts';
import { EVENTS } from '../apis/kubernetes/event.ts';
import { NODES } from '../apis/kubernetes/node.ts';
import { PODS } from '../apis/kubernetes/pod.ts';
import { POD_DISRUPTION_BUDGETS } from '../apis/kubernetes/pod-disruption-budget.ts';
import { DEPLOYMENTS } from '../apis/kubernetes/workloads.ts';
import { OPEN_MODEL_DEFINITION, OPEN_MODELS } from '../apis/llmaz/open-model.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../apis/schema/custom-resource-definition.ts';
import { ANNOTATION_INTERRUPT } from '../apis/spindrift/annotations.ts';
import { SPOT_POLICIES, type SpotPolicy } from '../apis/spindrift/spot-policy.ts';
import { type MachineType, machineTypes, spotPrice } from '../cloud/simulated/catalogue.ts';
import { aModel } from '../state/testkit/a-model.ts';
import { aService, setUpModelCluster, T4G } from './testkit/model-cluster.ts';

const MINUTE = 60_000;

describe('pods that serve a model', () => {
  it('run on its first flavor, fall through when that is sold out, and return without moving anybody', async () => {
    const { clock, client, families, soldOut, end } = await setUpModelCluster();
    await client.create(DEPLOYMENTS, aService('first', 2));
    await clock.advance(3 * MINUTE);
    expect(await families('first')).toEqual(['g5g', 'g5g']);

    await soldOut(T4G);
    await client.create(DEPLOYMENTS, aService('second', 2));
    await clock.advance(3 * MINUTE);
    expect(await families('second')).toEqual(['g4dn', 'g4dn']);

    await soldOut([]);
    // Longer than an offering that had no capacity is left alone.
    await clock.advance(10 * MINUTE);
    await client.create(DEPLOYMENTS, aService('third', 1));
    await clock.advance(3 * MINUTE);
    expect(await families('third')).toEqual(['g5g']);
    expect(await families('second')).toEqual(['g4dn', 'g4dn']);
    expect((await client.list(NODE_CLAIMS)).items).toHaveLength(5);
    await end();
  });

  it('go by the weights of a SpotPolicy, also when they are replaced (2, 20)', async () => {
    const { clock, client, families, nodes, end } = await setUpModelCluster();
    const weigh = (flavor: string) => ({
      flavorOrder: 'Weight',
      flavorWeights: [{ flavor, capacityType: 'spot', weight: 9 }],
    });
    const named = { apiVersion: 'spindrift.dev/v1alpha1', kind: 'SpotPolicy', metadata: { name: 'inference' } };
    await client.create(SPOT_POLICIES, { ...named, spec: weigh('t4') } as unknown as SpotPolicy);
    await client.create(DEPLOYMENTS, aService('chat', 1));
    await clock.advance(3 * MINUTE);
    expect(await families('chat')).toEqual(['g4dn']);

    await client.patch(SPOT_POLICIES, { name: 'inference' }, { type: 'merge', body: { spec: weigh('t4g') } });
    const [node] = await nodes();
    const body = { metadata: { annotations: { [ANNOTATION_INTERRUPT]: '120s' } } };
    await client.patch(NODES, { name: node?.metadata.name ?? '' }, { type: 'merge', body });
    await clock.advance(5 * MINUTE);
    expect(await families('chat')).toEqual(['g5g']);
    await end();
  });

  it('get no machine for a flavor that is none, are counted, hear which there are, and hold up nobody (22)', async () => {
    const { clock, client, metrics, families, end } = await setUpModelCluster();
    await client.create(DEPLOYMENTS, aService('wrong', 1, { flavors: 'h100' }));
    await client.create(DEPLOYMENTS, aService('right', 1, { flavors: 't4' }));
    await clock.advance(3 * MINUTE);
    expect(await families('wrong')).toEqual([]);
    expect(await families('right')).toEqual(['g4dn']);
    const events = (await client.list(EVENTS)).items;
    expect(events.map(({ message }) => message).join('\n')).toContain('its flavors are t4g, t4');
    expect(await metrics.read('karpenter_scheduler_ignored_pods_count')).toBe(1);
    await end();
  });

  it('are replaced in the order of their flavors when spot machines are lost, one after another, for less than on demand (4, 9)', async () => {
    const { clock, client, families, soldOut, end } = await setUpModelCluster();
    await client.create(DEPLOYMENTS, aService('chat', 4));
    const selector = { matchLabels: { app: 'chat' } };
    await client.create(POD_DISRUPTION_BUDGETS, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'chat', namespace: 'default' },
      spec: { selector, maxUnavailable: 1 },
    });
    await clock.advance(3 * MINUTE);
    expect(await families('chat')).toEqual(['g5g', 'g5g', 'g5g', 'g5g']);

    // Two of the four machines are taken back within two minutes, and no more of their kind are sold.
    await soldOut(T4G);
    const lost = (await client.list(NODES)).items.slice(0, 2).map(({ metadata }) => metadata.name ?? '');
    for (const name of lost) {
      const body = { metadata: { annotations: { [ANNOTATION_INTERRUPT]: '120s' } } };
      await client.patch(NODES, { name }, { type: 'merge', body });
    }
    let fewest = 4;
    for (let second = 0; second < 300; second++) {
      await clock.advance(1000);
      const ready = (await client.list(PODS)).items.filter(({ status }) =>
        status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True'),
      );
      fewest = Math.min(fewest, ready.length);
    }
    expect(fewest).toBeGreaterThanOrEqual(3);
    expect(await families('chat')).toEqual(['g4dn', 'g4dn', 'g5g', 'g5g']);

    const claims = (await client.list(NODE_CLAIMS)).items;
    expect(claims).toHaveLength(4);
    const types = new Map(machineTypes().map((machine) => [machine.name, machine]));
    const machines = claims.map(
      ({ metadata }) => types.get(metadata.labels?.[LABEL_INSTANCE_TYPE] ?? '') as MachineType,
    );
    const spot = machines.reduce((sum, machine) => sum + spotPrice(machine, 'sim-1a'), 0);
    const onDemand = machines.reduce((sum, { usdPerHour }) => sum + usdPerHour, 0);
    expect(spot / onDemand).toBeLessThan(0.6);
    await end();
  });

  it('are said to be away for a while where they load longer than their machine is there (5)', async () => {
    const { clock, client, nodes, end } = await setUpModelCluster();
    await client.create(DEPLOYMENTS, aService('slow', 1, { loading: '90s' }));
    await clock.advance(5 * MINUTE);
    const [node] = await nodes();
    const body = { metadata: { annotations: { [ANNOTATION_INTERRUPT]: '30s' } } };
    await client.patch(NODES, { name: node?.metadata.name ?? '' }, { type: 'merge', body });
    await clock.advance(10_000);
    const said = (await client.list(EVENTS)).items.filter(({ reason }) => reason === 'LoadsTooLate');
    expect(said).toHaveLength(2);
    expect(said[0]?.message).toMatch(
      /^Pods of model qwen2-0--5b take about 9\d s to load, and the machine is taken away in \d+ s/,
    );
    await end();
  });

  it('get spot machines for a group on several hosts only with a warning (8)', async () => {
    const { clock, client, end } = await setUpModelCluster();
    const made = aService('group', 1);
    const { template } = made.spec;
    const annotations = { ...template.metadata?.annotations, 'leaderworkerset.sigs.k8s.io/size': '2' };
    const metadata = { ...template.metadata, annotations };
    await client.create(DEPLOYMENTS, { ...made, spec: { ...made.spec, template: { ...template, metadata } } });
    await clock.advance(3 * MINUTE);
    const warnings = (await client.list(EVENTS)).items.filter(({ reason }) => reason === 'GroupOnSpot');
    expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining('a group of 2 pods')]);
    await end();
  });

  it('mean nothing special where llmaz is not installed, until it is', async () => {
    const { clock, client, families, end } = await setUpModelCluster({ llmaz: false });
    await client.create(DEPLOYMENTS, aService('plain', 1, { flavors: 'whatever' }));
    await clock.advance(3 * MINUTE);
    expect(await families('plain')).toHaveLength(1);
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, OPEN_MODEL_DEFINITION);
    await client.create(OPEN_MODELS, aModel('qwen2-0--5b', ['t4']));
    await clock.advance(2 * MINUTE);
    await client.create(DEPLOYMENTS, aService('flavored', 1));
    await clock.advance(3 * MINUTE);
    expect(await families('flavored')).toEqual(['g4dn']);
    await end();
  });
});
