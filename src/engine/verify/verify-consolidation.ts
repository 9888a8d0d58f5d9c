/** Checks a consolidation plan by carrying out its moves one after another, as a scheduler would. */
import type { ConsolidationOptions, Fleet, FleetNode, FleetPod } from '../consolidation/fleet.ts';
import type { ConsolidationPlan, Move } from '../consolidation/plan.ts';
import { checkDomainsOfAlternatives } from './alternative-domains.ts';
import { checkDaemons } from './daemon-rules.ts';
import { DisruptionRules } from './disruption-rules.ts';
import { FleetLedger } from './fleet-ledger.ts';
import { FleetSupply } from './fleet-supply.ts';
import { Market } from './market.ts';
import { checkNode } from './node-rules.ts';
import type { PlannedNode } from './planned-node.ts';
import { type Bought, checkPurchase, lookUp } from './purchase-rules.ts';
import type { Report, Violation } from './violation.ts';

const ROUNDING = 1e-6;

/** All violations; empty if the plan is correct. */
export function verifyConsolidation(
  fleet: Fleet,
  plan: ConsolidationPlan,
  options: ConsolidationOptions = {},
): Violation[] {
  const violations: Violation[] = [];
  const report: Report = (rule, subject, detail) => void violations.push({ rule, subject, detail });
  const ledger = new FleetLedger(fleet);
  const market = new Market(ledger.problem);
  const disruptions = new DisruptionRules(fleet);
  const supply = new FleetSupply(fleet, market);

  // Pods of later moves may land on new nodes of earlier ones, so new nodes are checked at the end, with all their pods.
  const purchases = new Map<string, { bought: Bought; pods: FleetPod[] }>();
  for (const [index, move] of plan.moves.entries()) {
    const subject = `move ${index}`;
    const unknown = move.nodes.filter((name) => !ledger.has(name) || ledger.asFound(name) === undefined);
    for (const name of unknown) report('untouchable', subject, `${name} does not exist (any more)`);
    if (unknown.length > 0) continue;
    disruptions.check(subject, move, ledger, report);

    const news = move.newNodes.flatMap((node, number) => {
      const bought = lookUp(ledger.problem, market, node, newNodeName(index, number), report);
      return bought === undefined ? [] : [bought];
    });
    checkSavings({ fleet, ledger, move, news, options, subject, report });
    // Old and new nodes run side by side until the pods have moved.
    supply.buy(news, subject, report);
    const leaving = move.nodes.flatMap((name) => ledger.remove(name));
    for (const name of move.nodes) supply.giveBack(ledger.asFound(name) as FleetNode);
    for (const bought of news) {
      ledger.add(bought.node);
      purchases.set(bought.node.name, { bought, pods: [] });
    }
    for (const [name, pods] of land(ledger, move, leaving, subject, report)) purchases.get(name)?.pods.push(...pods);
    for (const name of move.nodes) ledger.end(name);
  }
  for (const { bought, pods } of purchases.values()) {
    const groups = pods.map((pod) => ledger.group(pod));
    checkPurchase(ledger.problem, market, bought, groups, report);
    checkDomainsOfAlternatives(ledger.problem, market, bought, groups, ledger.topology, report);
    const listed = bought.plan.pods.map((number) => fleet.pods[number]?.name).sort();
    if (JSON.stringify(listed) !== JSON.stringify(pods.map(({ name }) => name).sort())) {
      report('landings', bought.node.name, `${listed.length} pods are listed, ${pods.length} land, or others`);
    }
  }
  checkTotals(fleet, plan, report);
  return violations;
}

function newNodeName(move: number, number: number): string {
  return `move ${move}, new node ${number}`;
}

/** Places every evicted pod, in the order of the landings; returns the pods by node. */
function land(
  ledger: FleetLedger,
  move: Move,
  leaving: readonly FleetPod[],
  subject: string,
  report: Report,
): Map<string, FleetPod[]> {
  const waiting = new Map(leaving.map((pod) => [pod.name, pod]));
  const arrivals = new Map<string, FleetPod[]>();
  const steps: [FleetPod, PlannedNode][] = [];
  for (const landing of move.landings) {
    const pod = waiting.get(landing.pod);
    if (pod === undefined) {
      report('landings', subject, `${landing.pod} lands, but was not on a node that goes, or has landed before`);
      continue;
    }
    waiting.delete(landing.pod);
    const target = 'node' in landing ? landing.node : newNodeName(landing.move, landing.newNode);
    if (!ledger.has(target) || ledger.asFound(target)?.closed === true) {
      report('landings', subject, `${landing.pod} lands on ${target}, which takes no pods`);
      continue;
    }
    arrivals.set(target, [...(arrivals.get(target) ?? []), pod]);
    steps.push([pod, ledger.node(target)]);
  }
  for (const name of waiting.keys()) report('landings', subject, `${name} has no place to go`);
  for (const [name, pods] of arrivals) {
    const groups = pods.map((pod) => ledger.group(pod));
    // New nodes are checked at the end, with all their pods.
    if (ledger.asFound(name) === undefined) continue;
    checkNode(ledger.withRoomLeft(name), groups, report);
    checkDaemons(ledger.problem, ledger.node(name), groups, report);
  }
  for (const [pod, node] of steps) {
    ledger.topology.place(ledger.group(pod), node, report);
    ledger.record(pod, node);
  }
  return arrivals;
}

interface CheckedMove {
  readonly fleet: Fleet;
  readonly ledger: FleetLedger;
  readonly move: Move;
  readonly news: readonly Bought[];
  readonly options: ConsolidationOptions;
  readonly subject: string;
  readonly report: Report;
}

function checkSavings({ fleet, ledger, move, news, options, subject, report }: CheckedMove): void {
  const gone = move.nodes.map((name) => ledger.asFound(name) as FleetNode);
  const before = gone.reduce((sum, node) => sum + node.price, 0);
  const savings = before - move.newNodes.reduce((sum, node) => sum + node.price, 0);
  if (!(Math.abs(savings - move.savings) <= ROUNDING))
    report('savings', subject, `says ${move.savings}, it is ${savings}`);
  const launches = move.newNodes.length > 0;
  const wanted = Math.max(options.minSavings ?? 0, launches ? (options.minSavingsShare ?? 0.05) * before : 0);
  // An empty node without a price may still be removed.
  if (savings < wanted - ROUNDING || (launches && savings <= 0))
    report('savings', subject, `saves ${savings}, ${wanted} is wanted`);

  if (move.newNodes.length < gone.length || !gone.some(({ capacityType }) => capacityType === 'spot')) return;
  if (hasAtMostHalf(news, gone, fleet)) return;
  const diverse = options.spotDiversity ?? 15;
  for (const { offerings, price } of move.newNodes) {
    if (offerings[0]?.capacityType !== 'spot') continue;
    // These would still save something if used instead.
    const others = offerings.filter((one) => one.capacityType === 'spot' && one.price < price + savings);
    if (others.length < diverse) {
      report('spot-diversity', subject, `${others.length} cheaper spot offerings, ${diverse} are wanted`);
    }
  }
}

/** Whether new nodes have at most half of the CPU, memory and devices of the removed nodes. */
function hasAtMostHalf(news: readonly Bought[], gone: readonly FleetNode[], { groups }: Fleet): boolean {
  const asked = groups.flatMap(({ requests }) => Object.keys(requests).filter((name) => (requests[name] ?? 0) > 0));
  const sizes = new Set(['cpu', 'memory', ...asked]);
  for (const fixed of ['pods', 'ephemeral-storage']) sizes.delete(fixed);
  return [...sizes].every((resource) => {
    const came = news.reduce((sum, { node }) => sum + (node.room[resource] ?? 0), 0);
    const went = gone.reduce((sum, { allocatable }) => sum + (allocatable[resource] ?? 0), 0);
    return 2 * came <= went;
  });
}

function checkTotals(fleet: Fleet, plan: ConsolidationPlan, report: Report): void {
  const before = fleet.nodes.reduce((sum, node) => sum + node.price, 0);
  const after = plan.moves.reduce((sum, move) => sum - move.savings, before);
  const tolerance = ROUNDING * Math.max(1, before);
  if (!(Math.abs(plan.priceBefore - before) <= tolerance))
    report('price', 'plan', `says ${plan.priceBefore} before, it is ${before}`);
  if (!(Math.abs(plan.priceAfter - after) <= tolerance))
    report('price', 'plan', `says ${plan.priceAfter} after, it is ${after}`);
  if (!(plan.lowerBound <= after + tolerance))
    report('lower-bound', 'plan', `the bound ${plan.lowerBound} is above the price ${after}`);
  const landings = plan.moves.reduce((sum, move) => sum + move.landings.length, 0);
  if (plan.evictions !== landings)
    report('landings', 'plan', `says ${plan.evictions} evictions, there are ${landings}`);
  const gone = new Set(plan.moves.flatMap((move) => move.nodes));
  const staying = fleet.nodes.map((node) => node.name).filter((name) => !gone.has(name));
  if (JSON.stringify(plan.kept.map(({ node }) => node)) !== JSON.stringify(staying)) {
    report('kept', 'plan', 'the kept nodes are not those that no move touches, in the order of the fleet');
  }
}
