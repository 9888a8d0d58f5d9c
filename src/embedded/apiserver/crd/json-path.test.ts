import { describe, expect, it } from 'vitest';
import { firstAt, jsonPath } from './json-path.ts';

const object = {
  metadata: { labels: { 'a.b/c': 'dotted', x: 'y' }, name: 'n' },
  spec: {
    list: [
      { type: 'A', n: 1 },
      { type: 'Ready', status: 'True', n: 2 },
    ],
    numbers: [1, 2, 3],
  },
  status: { conditions: [{ type: 'Ready', status: 'False', reason: 'R' }] },
};

describe('a JSON path', () => {
  it.each([
    ['.metadata.name', ['n']],
    ['.metadata.labels.a\\.b/c', ['dotted']],
    [".metadata.labels['a.b/c']", ['dotted']],
    ['.metadata.labels["x"]', ['y']],
    ['.spec.list[0].type', ['A']],
    ['.spec.list[-1].type', ['Ready']],
    ['.spec.list[*].n', [1, 2]],
    ['.spec.numbers[0:2]', [1, 2]],
    ['.spec.numbers[1:]', [2, 3]],
    ['.status.conditions[?(@.type=="Ready")].status', ['False']],
    [".status.conditions[?(@.type=='Ready')].reason", ['R']],
    ['.status.conditions[?(@.type == "Nope")].status', []],
    ['.spec.list[?(@.n>1)].type', ['Ready']],
    ['.spec.list[?(@.status)].n', [2]],
    ['..status', [object.status, 'True', 'False']],
    ['.spec.missing.deeper', []],
    ['.metadata.constructor', []],
  ])('%s finds %j', (path, found) => {
    expect([...(jsonPath(path)?.(object) ?? [])].sort()).toEqual([...found].sort());
  });

  it('that cannot be read finds nothing', () => {
    expect(jsonPath('.a[')).toBeUndefined();
    expect(firstAt(object, '.a[?(x)]')).toBeUndefined();
  });
});
