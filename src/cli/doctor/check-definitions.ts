/** The definitions of the kinds: served in the version that is needed, with the fields that are used. */
import { CORE_DEFINITIONS } from '../../apis/core-definitions.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomResourceDefinition,
} from '../../apis/schema/custom-resource-definition.ts';
import { version } from '../../platform/version.ts';
import type { Finding } from './finding.ts';
import type { Check, Ground } from './ground.ts';
import { missingFields } from './missing-fields.ts';
import { whereAllowed } from './where-allowed.ts';

const TODO =
  'helm upgrade --install spindrift-crd charts/spindrift-crd, or start with --install-definitions (settings.installDefinitions in the chart)';
const SHOWN = 3;

export const checkDefinitions: Check = async (ground) => {
  const definitions = [...CORE_DEFINITIONS, ...ground.clouds.map(({ nodeClass }) => nodeClass.definition)];
  const findings: Finding[] = [];
  for (const definition of definitions) findings.push(...(await lookAt(definition, ground)));
  if (findings.length > 0) return findings;
  const text = `all ${definitions.length} definitions are installed, with the fields of version ${version()}`;
  return [{ check: 'definitions', status: 'ok', text }];
};

async function lookAt(definition: CustomResourceDefinition, { client, get, signal }: Ground): Promise<Finding[]> {
  const { group, names, versions } = definition.spec;
  const name = definition.metadata.name ?? '';
  const [wanted] = versions;
  if (wanted === undefined) return [];
  // Every user may ask which kinds are served; reading the definition needs a right.
  const { code, text } = await get(`/apis/${group}/${wanted.name}`);
  const { resources = [] } = code === 200 ? (JSON.parse(text) as { resources?: { name: string }[] }) : {};
  if (!resources.some((resource) => resource.name === names.plural))
    return [
      { check: 'definitions', status: 'failed', text: `${name} is not served in version ${wanted.name}`, todo: TODO },
    ];
  const found = await whereAllowed(() => client.get(CUSTOM_RESOURCE_DEFINITIONS, { name }, { signal }));
  const theirs = found?.spec.versions.find((each) => each.name === wanted.name);
  if (theirs === undefined) return [];
  const missing = missingFields(wanted.schema.openAPIV3Schema, theirs.schema.openAPIV3Schema);
  if (missing.length === 0) return [];
  const more = missing.length > SHOWN ? ` and ${missing.length - SHOWN} more` : '';
  const lacks = `${name} is not the one of version ${version()}: it lacks ${missing.slice(0, SHOWN).join(', ')}${more}`;
  return [{ check: 'definitions', status: 'warning', text: lacks, todo: TODO }];
}
