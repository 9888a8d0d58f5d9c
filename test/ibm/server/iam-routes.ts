/** IAM as far as a client needs it: tokens for an API key, a compute resource, a trusted profile, and in a virtual server. */
import { createHmac } from 'node:crypto';
import type { Clock } from '../../../src/platform/clock.ts';
import { type WireAnswer, WireError, type WireRequest } from './wire-request.ts';

const LIFE_SECONDS = 3600;
const SECRET = 'local';

export class Iam {
  readonly #clock: Clock;
  /** The only API key that is known. */
  readonly apiKey: string;
  /** How many tokens were handed out. */
  issued = 0;

  constructor(options: { clock: Clock; apiKey: string }) {
    this.#clock = options.clock;
    this.apiKey = options.apiKey;
  }

  answer(request: WireRequest): WireAnswer | undefined {
    const { method, path } = request;
    if (method === 'POST' && path === '/identity/token') return this.#token(new URLSearchParams(request.body));
    if (method === 'PUT' && path === '/instance_identity/v1/token') {
      if (request.headers['metadata-flavor'] !== 'ibm')
        throw new WireError(400, 'bad_request', 'Metadata-Flavor: ibm is missing');
      return {
        status: 200,
        body: { access_token: 'instance-identity', created_at: '', expires_at: '', expires_in: 300 },
      };
    }
    if (method === 'POST' && path === '/instance_identity/v1/iam_token') {
      if (request.headers.authorization !== 'Bearer instance-identity')
        throw new WireError(401, 'not_authenticated', 'no identity');
      return this.#issue('vsi');
    }
    return undefined;
  }

  /** Whether a request carries a token of ours that has not expired. */
  allows(request: WireRequest): boolean {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    if (token === undefined) return false;
    const [header = '', payload = '', signature] = token.split('.');
    if (signature !== sign(`${header}.${payload}`)) return false;
    const { exp } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { exp: number };
    return this.#clock.now() / 1000 < exp;
  }

  #token(form: URLSearchParams): WireAnswer {
    const grant = form.get('grant_type');
    if (grant === 'urn:ibm:params:oauth:grant-type:apikey') {
      if (form.get('apikey') !== this.apiKey)
        return { status: 400, body: { errorCode: 'BXNIM0415E', errorMessage: 'Provided API key could not be found.' } };
      return this.#issue('apikey');
    }
    if (grant === 'urn:ibm:params:oauth:grant-type:cr-token' && form.get('cr_token') === 'service-account-token')
      return this.#issue('container');
    if (
      grant === 'urn:ibm:params:oauth:grant-type:assume' &&
      (form.get('profile_id') ?? form.get('profile_name')) !== null
    )
      return this.#issue('profile');
    return { status: 400, body: { errorCode: 'BXNIM0109E', errorMessage: 'Property missing or empty: grant_type' } };
  }

  #issue(subject: string): WireAnswer {
    this.issued++;
    const iat = Math.floor(this.#clock.now() / 1000);
    const exp = iat + LIFE_SECONDS;
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
    const text = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ sub: subject, iss: 'https://iam.cloud.ibm.com/identity', iat, exp })}`;
    return {
      status: 200,
      body: {
        access_token: `${text}.${sign(text)}`,
        refresh_token: 'not_supported',
        token_type: 'Bearer',
        expires_in: LIFE_SECONDS,
        expiration: exp,
        scope: 'ibm openid',
      },
    };
  }
}

function sign(text: string): string {
  return createHmac('sha256', SECRET).update(text).digest('base64url');
}
