/**
 * Checks a plan with slow, simple code written from the rules of kube-scheduler and of NodePools. It shares only the types
 * of problem and solution with the solver, so that both cannot be wrong in the same way.
 */
import type { PodGroup, Problem } from '../problem.ts';
import type { Solution } from '../solution.ts';
import { checkDomainsOfAlternatives } from './alternative-domains.ts';
import { checkDaemons } from './daemon-rules.ts';
import { DutyRules } from './duty-rules.ts';
import { Market } from './market.ts';
import { checkNode } from './node-rules.ts';
import { existingNode, type PlannedNode } from './planned-node.ts';
import { podsOf } from './pods.ts';
import { type Bought, checkPurchase, checkStatedPrice, checkTotals, lookUp, newNodeName } from './purchase-rules.ts';
import { TopologyReplay } from './topology-replay.ts';
import type { Report, Violation } from './violation.ts';

/** All violations, in the order in which they were found; empty if the plan is correct. */
export function verify(problem: Problem, solution: Solution): Violation[] {
  const violations: Violation[] = [];
  const report: Report = (rule, subject, detail) => void violations.push({ rule, subject, detail });
  const pods = podsOf(problem);
  checkEachPodOnce(problem, solution, pods, report);
  // The following checks need every pod to exist exactly once.
  if (violations.length > 0) return violations;

  const podsAt = (numbers: readonly number[]) => numbers.map((number) => pods[number] as PodGroup);
  const duties = new DutyRules(problem);
  const nodeOfPod = new Map<number, PlannedNode>();
  const cluster = new Map((problem.nodes ?? []).map((node) => [node.name, existingNode(node, problem)]));

  for (const placement of solution.existing) {
    const node = cluster.get(placement.node);
    if (node === undefined) {
      report('unknown-node', placement.node, 'does not exist');
      continue;
    }
    if (problem.nodes?.some(({ name, leaving }) => name === placement.node && leaving === true)) {
      report('leaving-node', node.name, 'is about to go');
    }
    for (const number of placement.pods) nodeOfPod.set(number, node);
    checkNode(node, podsAt(placement.pods), report);
    checkDaemons(problem, node, podsAt(placement.pods), report);
    for (const pod of new Set(podsAt(placement.pods))) duties.checkOrdered(node, pod, report);
  }

  const market = new Market(problem);
  const purchases: Bought[] = [];
  for (const [index, plan] of solution.newNodes.entries()) {
    const bought = lookUp(problem, market, plan, newNodeName(index), report);
    if (bought === undefined) continue;
    purchases.push(bought);
    for (const number of plan.pods) nodeOfPod.set(number, bought.node);
    checkPurchase(problem, market, bought, podsAt(plan.pods), report);
    const groups = new Set(podsAt(plan.pods));
    duties.checkWeight(bought, groups, report);
    for (const pod of groups) duties.checkOrdered(bought.node, pod, report);
  }
  checkTotals(problem, market, purchases, report);
  checkStatedPrice(solution, report);

  const replay = new TopologyReplay(problem);
  for (const bound of problem.boundPods ?? []) {
    const node = cluster.get(bound.node);
    if (node !== undefined) replay.bind(bound, node, bound.count ?? 1);
  }
  for (const number of solution.order) {
    const node = nodeOfPod.get(number);
    if (node !== undefined) replay.place(pods[number] as PodGroup, node, report);
  }
  for (const bought of purchases)
    checkDomainsOfAlternatives(problem, market, bought, podsAt(bought.plan.pods), replay, report);
  const unplaced = new Set(solution.unplaced.flatMap((entry) => podsAt(entry.pods)));
  for (const pod of unplaced) duties.checkUnplaced(pod, report);
  const placed = [...nodeOfPod].map(([number, node]) => [pods[number] as PodGroup, node] as const);
  duties.checkPriority(unplaced, placed, report);
  return violations;
}

function checkEachPodOnce(problem: Problem, solution: Solution, pods: readonly PodGroup[], report: Report): void {
  const placed = [
    ...solution.newNodes.map((node, index) => ({ where: newNodeName(index), pods: node.pods })),
    ...solution.existing.map((placement) => ({ where: placement.node, pods: placement.pods })),
  ];
  const unplaced = solution.unplaced.map((entry) => ({ where: 'the unplaced', pods: entry.pods }));
  const seen = new Map<number, string>();
  for (const { where, pods: numbers } of [...placed, ...unplaced]) {
    for (const number of numbers) {
      if (pods[number] === undefined) report('each-pod-once', `pod ${number}`, `does not exist, but is on ${where}`);
      const before = seen.get(number);
      if (before !== undefined) report('each-pod-once', `pod ${number}`, `is on ${before} and on ${where}`);
      seen.set(number, where);
    }
  }
  for (const number of pods.keys()) {
    if (!seen.has(number)) report('each-pod-once', `pod ${number}`, 'is neither placed nor unplaced');
  }
  for (const { group, pods: numbers } of solution.unplaced) {
    const foreign = numbers.find((number) => pods[number] !== problem.pods[group]);
    if (foreign !== undefined)
      report('each-pod-once', `pod ${foreign}`, `is unplaced as one of group ${group}, which it is not`);
  }
  const toOrder = new Set(placed.flatMap((place) => place.pods));
  const ordered = new Set(solution.order);
  if (
    ordered.size !== solution.order.length ||
    ordered.size !== toOrder.size ||
    [...ordered].some((number) => !toOrder.has(number))
  ) {
    report('order', 'plan', 'the order is not a permutation of the placed pods');
  }
}
