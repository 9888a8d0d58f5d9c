/** What the program says it needs and what the chart gives it are the same, in both directions. Skipped without Helm. */
import { describe, expect, it } from 'vitest';
import { type NeededRule, neededRules } from '../../src/app/needed-rights.ts';
import { MATRIX, type Rendered, rendered } from '../chart/rendered-chart.ts';
import { findHelm } from '../peers/helm.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Each right by itself: `namespace group/resource name verb`. */
function single(rules: readonly NeededRule[]): string[] {
  const all = rules.flatMap(({ group, resources, verbs, namespace = '*', names = ['*'] }) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) => names.map((name) => `${namespace} ${group}/${resource} ${name} ${verb}`)),
    ),
  );
  return [...new Set(all)].sort();
}

/** The roles of the controller; those of the agent and of administrators are not its own. */
function given(objects: readonly Rendered[]): string[] {
  const roles = objects.filter(
    ({ kind, metadata }) => /Role$/.test(kind) && !/-admin$|-agent|-metrics-reader$/.test(metadata.name),
  ) as unknown as { metadata: { namespace?: string }; rules: Rule[] }[];
  return single(
    roles.flatMap(({ metadata, rules }) =>
      rules.flatMap(({ apiGroups, resources, verbs, resourceNames }) =>
        apiGroups.map((group) => ({
          ...{ group, resources, verbs },
          ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
          ...(resourceNames === undefined ? {} : { names: resourceNames }),
        })),
      ),
    ),
  );
}

/** The options that the values of the matrix stand for. */
function needed(values: readonly string[]): string[] {
  const listed = (key: string): string[] =>
    values
      .find((value) => value.startsWith(`${key}={`))
      ?.slice(key.length + 2, -1)
      .split(',') ?? [];
  const gpuNames = values
    .find((value) => value.startsWith('settings.gpuNames='))
    ?.split('=')[1]
    ?.split('/');
  return single(
    neededRules({
      clouds: listed('clouds'),
      ...(values.includes('settings.leaderElection.enabled=false')
        ? {}
        : { lease: { namespace: 'autoscaling', name: 'karpenter-leader-election' } }),
      installsDefinitions: values.includes('settings.installDefinitions=true'),
      ...(gpuNames === undefined ? {} : { gpuNames: { namespace: gpuNames[0]!, name: gpuNames[1]! } }),
      ownMachines: listed('clusterApi.machines'),
      writesDeletionCost: values.includes('settings.podDeletionCost=true'),
      keepsReplicas: values.includes('settings.readyReplicas=true'),
      checksTokens: values.includes('controller.metrics.authentication=true'),
      managesItself: !values.some((value) => value.startsWith('clusterApi.kubeconfigSecret')),
    }),
  );
}

describe.skipIf(findHelm() === undefined)('the roles of the chart', () => {
  it.each(Object.entries(MATRIX))('are what spindrift doctor asks for: %s', (_, values) => {
    expect(given(rendered(...values))).toEqual(needed(values));
  });
});

it.skipIf(findHelm() !== undefined)('roles are not compared without Helm: npm run peers:helm builds it', () => {});
