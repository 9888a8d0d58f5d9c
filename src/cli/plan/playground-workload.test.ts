import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../platform/clock.ts';
import { parseTimestamp } from '../../platform/clock.ts';
import { makePlan } from './make-plan.ts';
import type { PlanReport } from './plan-report.ts';
import { parseManifests, readManifests } from './read-manifests.ts';

const EXAMPLES = new URL('../../../examples/models/', import.meta.url).pathname;
const options = { now: parseTimestamp('2030-01-01T00:00:00Z') as EpochMs, solve: { maxSteps: 100_000 } };

const bought = ({ nodes }: PlanReport): string[] =>
  nodes.map(({ instanceType, capacityType }) => `${instanceType.split('.')[0]} ${capacityType}`);

describe('a plan for models', () => {
  it('takes the first flavor of the example of the design: a T4G', async () => {
    const report = await makePlan(await readManifests([`${EXAMPLES}design.yaml`]), options);
    expect(bought(report)).toEqual(['g5g spot', 'g5g spot']);
    expect(report.withoutPlace).toEqual([]);
    expect(report.notes).toEqual([]);
  });

  it('takes the first flavor that the service picks, on spot', async () => {
    const report = await makePlan(await readManifests([`${EXAMPLES}qwen.yaml`]), options);
    expect(new Set(bought(report))).toEqual(new Set(['g6 spot']));
    expect(report.podsPlaced).toBe(4);
  });

  it('goes by the weights of a SpotPolicy before the order of the model', async () => {
    const report = await makePlan(await readManifests([`${EXAMPLES}weights.yaml`]), options);
    expect(bought(report)).toEqual(['g6 spot', 'g6 spot']);
    const text = await readFile(`${EXAMPLES}weights.yaml`, 'utf8');
    const onDemand = text.replace('values: [spot, on-demand]', 'values: [on-demand]');
    expect(bought(await plan(onDemand))).toEqual(['g6 on-demand', 'g6 on-demand']);
    expect(
      bought(await plan(onDemand.replace('flavorOrder: Weight', '').replace(/ {2}flavorWeights:(\n.*weight.*)+/, ''))),
    ).toEqual(['g5 on-demand', 'g5 on-demand']);
  });

  it('takes the example for EKS, with prices of its region', async () => {
    const report = await makePlan(await readManifests([`${EXAMPLES}eks.yaml`]), { ...options, region: 'us-east-1' });
    expect(bought(report)).toEqual(['g6 spot', 'g6 spot', 'g6 spot', 'g6 spot']);
  });

  it.each([
    ['node.kubernetes.io/instance-type', 'g5.2xlarge', /^g5\.2xlarge$/],
    ['karpenter.k8s.aws/instance-gpu-count', '4', /^g\w+\.(12|24)xlarge$/],
    ['karpenter.k8s.aws/instance-gpu-manufacturer', 'nvidia', /^g/],
    ['karpenter.k8s.aws/instance-gpu-memory', '45776', /^g6e\./],
    ['karpenter.k8s.aws/instance-gpu-name', 't4', /^g4dn\./],
  ])('goes by a flavor that selects nodes by %s (17)', async (key, value, type) => {
    const example = await readFile(`${EXAMPLES}eks.yaml`, 'utf8');
    const text = example
      .replace('operator: In\n          values: ["1"]', 'operator: Exists')
      .replaceAll(/karpenter.k8s.aws\/instance-gpu-name: \w+/g, `${key}: "${value}"`);
    const { nodes } = await makePlan(parseManifests('eks.yaml', text), { ...options, region: 'us-east-1' });
    expect(nodes.length).toBeGreaterThan(0);
    for (const { instanceType } of nodes) expect(instanceType).toMatch(type);
  });

  const plan = (...documents: string[]) => makePlan(parseManifests('model.yaml', documents.join('\n---\n')), options);
  const model = `{apiVersion: llmaz.io/v1alpha1, kind: OpenModel, metadata: {name: qwen}, spec: {inferenceConfig: {flavors: [{name: t4}]}}}`;
  const playground = (spec: string): string =>
    `{apiVersion: inference.llmaz.io/v1alpha1, kind: Playground, metadata: {name: chat}, spec: ${spec}}`;

  it.each([
    [
      '{}',
      'model.yaml, document 2: Playground chat: spec.modelClaim.modelName is missing: name the OpenModel that it serves',
    ],
    [
      '{modelClaim: {modelName: qwem}}',
      'model.yaml, document 2: Playground chat: OpenModel qwem is not given, did you mean qwen?: name its manifest with -f too',
    ],
  ])('says what is wrong with a Playground: %s', async (spec, problem) => {
    await expect(plan(model, playground(spec))).rejects.toMatchObject({ details: { problems: problem } });
  });

  it('says which flavors there are, where one is picked that is none', async () => {
    const { withoutPlace } = await plan(model, playground('{modelClaim: {modelName: qwen, inferenceFlavors: [t5]}}'));
    expect(withoutPlace.map(({ why }) => why)).toEqual([
      'its annotation llmaz.io/inference-service-flavors names t5, which OpenModel qwen does not have, did you mean t4? its flavors are t4',
    ]);
  });

  it('refuses a field of an OpenModel that is written wrongly', async () => {
    const wrong = model.replace('flavors:', 'flavours:');
    await expect(plan(wrong)).rejects.toMatchObject({ details: { problems: expect.stringContaining('flavours') } });
  });

  it('says that it plans without flavors where no model is given', async () => {
    const pod = `{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {llmaz.io/model-name: qwen}}, spec: {containers: [{name: a, image: x}]}}`;
    const { notes, podsPlaced } = await plan(pod);
    expect(podsPlaced).toBe(1);
    expect(notes).toContain('no OpenModel is given (qwen): pods are planned without their flavors');
  });
});
