/** A replica for the test of leader election: says on its standard output when it leads and when it no longer does. */
import { connect } from '../../src/kube/connect.ts';
import { LeaderElection } from '../../src/kube/leader-election.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { RealClock } from '../../src/platform/real-clock.ts';

const [kubeconfig = '', identity = '', name = ''] = process.argv.slice(2);
const clock = new RealClock();
const { client, connection } = await connect({ clock, kubeconfig });
const election = new LeaderElection({
  client,
  clock,
  random: seededRandom(identity),
  identity,
  lease: { namespace: 'default', name },
  // A fifth of the usual times, so that the test need not wait for them.
  leaseDurationMs: 3000,
  renewDeadlineMs: 2000,
  retryPeriodMs: 400,
});
const stop = new AbortController();
process.on('SIGTERM', () => stop.abort(new Error('asked to stop')));
process.stdout.write('candidate\n');
await election.run(stop.signal, async (signal) => {
  process.stdout.write('leads\n');
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  process.stdout.write('stops\n');
});
await connection.close();
