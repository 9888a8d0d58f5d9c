import { SpindriftError } from '../../platform/errors.ts';
import type { Slices, Work } from '../packing/work.ts';
import type { Fleet } from './fleet.ts';

/** Rejects an inconsistent fleet, naming the object and the field. */
export function* validateFleet(fleet: Fleet, work: Work): Slices<void> {
  const { nodes, groups, pods, boundPods = [], disruptionBudgets = [], daemons = [] } = fleet;
  const names = new Set<string>();
  for (const { name, price, daemonsToCome = [] } of nodes) {
    if (names.has(name)) refuse(`node ${name}`, 'name', 'is not the only one of that name');
    names.add(name);
    if (!(price >= 0 && price < Number.POSITIVE_INFINITY)) {
      refuse(`node ${name}`, 'price', `is ${price}, but it must be a number and not negative`);
    }
    for (const daemon of daemonsToCome) {
      if (daemons[daemon] === undefined)
        refuse(`node ${name}`, 'daemonsToCome', `names ${daemon}, which does not exist`);
    }
  }
  const podNames = new Set<string>();
  for (const { name, node, group, evictionCost = 0, disruptionBudgets: selected = [] } of pods) {
    if (podNames.has(name)) refuse(`pod ${name}`, 'name', 'is not the only one of that name');
    podNames.add(name);
    if (!names.has(node)) refuse(`pod ${name}`, 'node', `is ${node}, which is not in the fleet`);
    if (groups[group] === undefined) refuse(`pod ${name}`, 'group', `is ${group}, which does not exist`);
    if (Number.isNaN(evictionCost)) refuse(`pod ${name}`, 'evictionCost', 'is not a number');
    for (const budget of selected) {
      if (disruptionBudgets[budget] === undefined) {
        refuse(`pod ${name}`, 'disruptionBudgets', `names ${budget}, which does not exist`);
      }
    }
    if (work.spend(3)) yield;
  }
  for (const { node, namespace } of boundPods) {
    if (!names.has(node)) refuse(`a bound pod of ${namespace}`, 'node', `is ${node}, which is not in the fleet`);
    if (work.spend(1)) yield;
  }
  for (const { name, allowed } of disruptionBudgets) {
    if (!(allowed >= 0)) refuse(`PodDisruptionBudget ${name}`, 'allowed', `is ${allowed}, but it must not be negative`);
  }
}

function refuse(object: string, field: string, problem: string): never {
  throw new SpindriftError('PROBLEM_INVALID', { object, field, problem });
}
