import { describe, expect, it } from 'vitest';
import { aModel, aModelPod } from './testkit/a-model.ts';
import { ANNOTATION_VIRTUAL_POD } from './virtual-pod.ts';
import { sparePod, warmSpares } from './warm-spares.ts';

describe('warm spares', () => {
  it('are as many as the annotation of the model says, of the pods that run where it is a share', () => {
    const asking = (text: string) => {
      const model = aModel('qwen', ['t4']);
      return { ...model, metadata: { ...model.metadata, annotations: { 'spindrift.dev/warm-spares': text } } };
    };
    expect(warmSpares(aModel('qwen', ['t4']), 9)).toBe(0);
    expect(warmSpares(asking('2'), 9)).toBe(2);
    expect(warmSpares(asking('25%'), 9)).toBe(3);
    expect(warmSpares(asking('some'), 9)).toMatchObject({ problem: expect.stringContaining('write a number of pods') });
  });

  it('want a node as the pod wants it that they are like: its flavors, their order and their limits (5)', () => {
    const { metadata, ...rest } = aModelPod('qwen-0', 'qwen', 't4');
    const placing = { 'spindrift.dev/flavor-order': 'Price', 'spindrift.dev/flavor-limits': 'true' };
    const annotations = { ...metadata.annotations, ...placing, 'example.com/other': 'x' };
    const like = { ...rest, metadata: { ...metadata, annotations } };
    expect(sparePod(aModel('qwen', ['t4']), like, 1).metadata.annotations).toEqual({
      ...placing,
      'llmaz.io/inference-service-flavors': 't4',
      [ANNOTATION_VIRTUAL_POD]: 'true',
    });
  });
});
