import { Environment } from '@marcbachmann/cel-js';
import { registerDialect } from '../dialect.ts';
import { registerIps } from './ip-functions.ts';
import { registerLists } from './list-functions.ts';
import { registerMacros } from './macros.ts';
import { registerNamedFormats } from './named-format-functions.ts';
import { registerQuantities } from './quantity-functions.ts';
import { registerSemver } from './semver-functions.ts';
import { registerSets } from './set-functions.ts';
import { registerStrings } from './string-functions.ts';
import { registerUrls } from './url-functions.ts';

let library: Environment | undefined;

/** A new environment with the CEL functions of Kubernetes. The caller declares variables and types in it. */
export function kubernetesEnvironment(): Environment {
  if (library === undefined) {
    library = new Environment({ enableOptionalTypes: true });
    registerQuantities(library);
    registerUrls(library);
    registerIps(library);
    registerLists(library);
    registerStrings(library);
    registerSets(library);
    registerSemver(library);
    registerNamedFormats(library);
    registerDialect(library);
    registerMacros(library);
  }
  return library.clone();
}
