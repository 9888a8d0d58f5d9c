/** One storm of notices; its figures as JSON on standard output. Arguments: machines, pods on each. */
import { noticeStorm } from './notice-storm.ts';

const [machines = '15000', pods = '0'] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await noticeStorm(Number(machines), Number(pods))));
process.exit(0);
