import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/platform/random.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { judge, pythonJudges } from './judge/python-judges.ts';
import { type HttpFront, listen } from './server/http-front.ts';
import { IbmServer } from './server/ibm-server.ts';

const judges = await pythonJudges();
const missing = typeof judges === 'string' ? judges : '';

describe.skipIf(missing !== '')(`the local IBM Cloud ${missing}`, () => {
  let server: IbmServer;
  let front: HttpFront;

  beforeAll(async () => {
    front = await listen((origin) => {
      server = new IbmServer({ clock: new RealClock(), random: seededRandom('judge'), origin });
      return (request) => server.answer(request);
    });
    server.world.startMs = 400;
    server.world.deleteMs = 200;
  });
  afterAll(() => front.close());

  it('is believed by the official Python SDK, whose models read every answer', async () => {
    const { network, images, keys } = server.world;
    const balancer = server.world.addBalancer('ingress');
    const { placementGroups, dedicatedHosts, dedicatedHostGroups } = server.world;
    placementGroups.set('r006-spread', 'spread');
    dedicatedHosts.set('0717-host', 'host');
    dedicatedHostGroups.set('0717-group', 'hosts');
    const placements = ['r006-spread', '0717-host', '0717-group'];
    const names = [network.vpc.id, network.subnets[0]?.id, images[0]?.id, keys[0]?.id, balancer.id] as string[];
    const { python } = judges as { python: string };
    const said = await judge(python, [
      join(import.meta.dirname, 'judge', 'judge.py'),
      front.origin,
      ...names,
      ...placements,
    ]);
    expect(said.trim().split('\n')).toEqual([
      '37 profiles',
      'created judge-1',
      'refused 400 validation_unique_failed',
      'refused 400 conflict_field',
      'refused 400 bad_field',
      'refused 400 invalid_profile_error',
      'refused 404 not_found',
      'refused 400 bad_field',
      '61 spot instances in pages of 50',
      'refused 409 load_balancer_update_conflict',
      'refused 409 instance_deletion_in_progress',
      'deleted with its volume',
    ]);
  });

  it('would be refused by it if a required property were missing', async () => {
    const { python } = judges as { python: string };
    const program = 'from ibm_vpc.vpc_v1 import Instance; Instance.from_dict({"id": "x"})';
    await expect(judge(python, ['-c', program])).rejects.toThrow(/Required property/);
  });
});
