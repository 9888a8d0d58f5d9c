/** Operators of two clusters apply the roles of examples/cluster-api; operators of one cluster have those of the chart. Both give the same. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { type NeededRule, neededRules } from '../../../../src/app/needed-rights.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', '..', '..', 'examples', 'cluster-api');

interface Role {
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

function given(file: string): string[] {
  const { rules } = parse(readFileSync(join(EXAMPLES, file), 'utf8')) as Role;
  return single(rules.flatMap(({ apiGroups, ...rest }) => apiGroups.map((group) => ({ group, ...rest }))));
}

function single(rules: readonly NeededRule[]): string[] {
  const all = rules.flatMap(({ group, resources, verbs }) =>
    resources.flatMap((resource) => verbs.map((verb) => `${group}/${resource} ${verb}`)),
  );
  return [...new Set(all)].sort();
}

/** What is asked of the cluster for its machines, beyond what an autoscaler asks of a cluster whose machines are elsewhere. */
function forMachines(ownMachines: readonly string[]): string[] {
  const options = {
    ...{ clouds: ['cluster-api'], installsDefinitions: false, ownMachines },
    ...{ writesDeletionCost: false, keepsReplicas: false, checksTokens: false },
  };
  const elsewhere = single(neededRules({ ...options, managesItself: false }));
  return single(neededRules({ ...options, managesItself: true })).filter((right) => !elsewhere.includes(right));
}

it('the role for a management cluster has the rights that are needed there, and events', () => {
  const events = ['/events create', '/events patch'];
  expect(given('management-role.yaml')).toEqual([...forMachines([]), ...events].sort());
});

it('the role for whole mode adds those of a provider', () => {
  const all = forMachines(['aws', 'gcp', 'azure']);
  expect(given('management-role-machines.yaml')).toEqual(all.filter((right) => !forMachines([]).includes(right)));
});
