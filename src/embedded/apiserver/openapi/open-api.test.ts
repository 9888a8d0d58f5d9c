import { describe, expect, it } from 'vitest';
import { builtInSchema } from '../schema/builtin/built-in-schema.ts';
import { openApiDocument, openApiIndex } from './open-api.ts';

type Fields = Record<string, Record<string, unknown>>;

const deployments = {
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
  schema: builtInSchema('apps/v1', 'Deployment') ?? {},
  strategicMergePatch: true,
  subresources: ['status', 'scale'],
};
const widgets = {
  kind: 'Widget',
  plural: 'widgets',
  namespaced: false,
  schema: {
    type: 'object' as const,
    properties: { spec: { type: 'object' as const, description: 'What is wanted.' } },
  },
  strategicMergePatch: false,
  subresources: [],
};

function references(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = '$ref' in value && typeof value.$ref === 'string' ? [value.$ref] : [];
  return [...own, ...Object.values(value).flatMap(references)];
}

describe('an OpenAPI document', () => {
  const apps = openApiDocument({ group: 'apps', version: 'v1' }, [deployments]);
  const custom = openApiDocument({ group: 'example.com', version: 'v1' }, [widgets]);
  const gvk = { group: 'apps', version: 'v1', kind: 'Deployment' };

  it('tells kubectl that a patch of the kind can be validated, and in what forms it can be sent', () => {
    const paths = apps.paths as Record<string, Fields>;
    const patch = paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}']?.patch as Record<string, never>;
    expect(patch['x-kubernetes-group-version-kind']).toEqual(gvk);
    expect(patch.parameters).toContainEqual(expect.objectContaining({ name: 'fieldValidation', in: 'query' }));
    expect(patch).toHaveProperty(['requestBody', 'content', 'application/strategic-merge-patch+json']);
    const widgetPath = (custom.paths as Record<string, Fields>)['/apis/example.com/v1/widgets/{name}'];
    expect(Object.keys((widgetPath!.patch!.requestBody as { content: object }).content)).toEqual([
      'application/apply-patch+yaml',
      'application/json-patch+json',
      'application/merge-patch+json',
    ]);
  });

  it('has the schema of the kind under its name, with what it refers to', () => {
    const { schemas } = apps.components as { schemas: Fields };
    expect(schemas['io.k8s.api.apps.v1.Deployment']?.['x-kubernetes-group-version-kind']).toEqual([gvk]);
    const missing = references(apps).filter((ref) => !(ref.replace('#/components/schemas/', '') in schemas));
    expect(missing).toEqual([]);
    expect(schemas['io.k8s.api.core.v1.PodSpec']).toHaveProperty(
      ['properties', 'containers', 'x-kubernetes-patch-merge-key'],
      'name',
    );
  });

  it('keeps what a field says apart from what its type says', () => {
    const { schemas } = apps.components as { schemas: Fields };
    expect(schemas['io.k8s.api.apps.v1.DeploymentSpec']?.description).toBe('What is wanted of a Deployment.');
    expect(schemas['io.k8s.api.apps.v1.DeploymentStrategy']).not.toHaveProperty('x-kubernetes-patch-strategy');
    expect(schemas['io.k8s.api.apps.v1.DeploymentSpec']).toHaveProperty(['properties', 'strategy'], {
      allOf: [{ $ref: '#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy' }],
      description: 'How old pods are replaced by new ones.',
      'x-kubernetes-patch-strategy': 'retainKeys',
    });
  });

  it('shows a custom resource with the fields every resource has', () => {
    const { schemas } = custom.components as { schemas: Fields };
    expect(Object.keys(schemas['com.example.v1.Widget']?.properties as object)).toEqual([
      'apiVersion',
      'kind',
      'metadata',
      'spec',
    ]);
    expect(schemas['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta']).toBeDefined();
  });

  it('ends where a type contains itself', () => {
    const schema = builtInSchema('apiextensions.k8s.io/v1', 'CustomResourceDefinition') ?? {};
    const kind = { ...widgets, kind: 'CustomResourceDefinition', plural: 'customresourcedefinitions', schema };
    const document = openApiDocument({ group: 'apiextensions.k8s.io', version: 'v1' }, [kind]);
    expect(JSON.stringify(document).length).toBeLessThan(100_000);
  });

  it('is found through an index whose address changes with it', () => {
    const index = (text: string): unknown => openApiIndex(new Map([['apis/apps/v1', Buffer.from(text)]]));
    expect(JSON.stringify(index('a'))).toMatch(
      /^\{"paths":\{"apis\/apps\/v1":\{"serverRelativeURL":"\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]{128}"\}\}\}$/,
    );
    expect(index('a')).not.toEqual(index('b'));
  });
});
