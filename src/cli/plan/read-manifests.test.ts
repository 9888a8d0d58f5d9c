import { describe, expect, it } from 'vitest';
import { parseManifests } from './read-manifests.ts';

const DEPLOYMENT = 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n';

describe('manifests', () => {
  it('are several documents in one file, and say where they stand', () => {
    const { manifests, problems } = parseManifests('web.yaml', `---\n${DEPLOYMENT}---\n# nothing\n---\n${DEPLOYMENT}`);
    expect(problems).toEqual([]);
    expect(manifests.map(({ source }) => source)).toEqual(['web.yaml, document 1', 'web.yaml, document 3']);
  });

  it('are not told by a number when there is one document', () => {
    expect(parseManifests('web.yaml', DEPLOYMENT).manifests[0]?.source).toBe('web.yaml');
  });

  it('may be items of a List, and may be JSON', () => {
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [parsed('a'), parsed('b')] });
    expect(parseManifests('all.json', list).manifests.map(({ object }) => object.metadata.name)).toEqual(['a', 'b']);
  });

  it('may be items of a list of one kind, which do not say their kind', () => {
    const list = { apiVersion: 'apps/v1', kind: 'DeploymentList', items: [{ metadata: { name: 'a' } }] };
    expect(parseManifests('all.json', JSON.stringify(list)).manifests.map(({ object }) => object)).toEqual([
      { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' } },
    ]);
  });

  it.each(['\x7fELF\0\0\x01', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0xfe]).toString('utf8')])(
    'are refused in a sentence when they are not text',
    (text) => {
      expect(parseManifests('bin/tool', text)).toEqual({
        manifests: [],
        problems: ['bin/tool is not a text file: name manifests in YAML or JSON'],
      });
    },
  );

  it('are refused in a sentence when an alias leads nowhere', () => {
    expect(parseManifests('x.yaml', 'a: *b').problems).toEqual([expect.stringMatching(/^x\.yaml.*: .*\bb\b/)]);
  });

  it('are refused with the line when they are not YAML', () => {
    const { problems } = parseManifests('web.yaml', `${DEPLOYMENT}---\nkind: [`);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^web\.yaml, document 2, line \d+: /);
  });

  it.each([
    ['- 1', 'is not an object'],
    ['kind: Pod', 'apiVersion is missing'],
    ['apiVersion: v1', 'kind is missing'],
    ['apiVersion: v1\nkind: Pod', 'Pod: metadata.name is missing'],
    ['apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: x}', 'write apiVersion: karpenter.sh/v1'],
  ])('are refused when they are %j', (text, problem) => {
    const { manifests, problems } = parseManifests('x.yaml', text);
    expect(manifests).toEqual([]);
    expect(problems[0]).toContain(problem);
  });
});

function parsed(name: string): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } };
}
