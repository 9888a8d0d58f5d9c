/** Macros of CEL that the evaluator lacks: comprehensions over two variables, `optMap`, `optFlatMap`, `sortBy`. */
import { type Environment, Optional } from '@marcbachmann/cel-js';

/** A part of an expression. The evaluator passes untyped values to macros; these are the fields that macros need. */
export interface Ast {
  readonly op: string;
  readonly args: unknown;
}
interface Type {
  readonly kind: string;
  readonly keyType?: Type;
  readonly valueType?: Type;
}
interface Context {
  forkWithVariable(name: string, type: Type): Variable;
}
interface Variable extends Context {
  reuse(context: Context): Variable;
  setIterValue(value: unknown, evaluator: Evaluator): Variable;
}
interface Checker {
  check(ast: Ast, context: Context): Type;
  getType(name: string): Type;
}
interface Evaluator {
  run(ast: Ast, context: Context): unknown;
}
/** A call of a macro, not yet evaluated. */
export interface Call {
  readonly args: readonly Ast[];
  readonly receiver: Ast;
}
/** How a macro is checked and evaluated. */
export interface Macro {
  typeCheck(checker: Checker, macro: unknown, context: Context): Type;
  evaluate(evaluator: Evaluator, macro: unknown, context: Context): unknown;
}

function nameOf(ast: Ast | undefined): string {
  if (ast?.op !== 'id') throw new Error('argument must be a simple name');
  return ast.args as string;
}

type Entry = readonly [key: unknown, value: unknown];

function entriesOf(collection: unknown): readonly Entry[] {
  if (Array.isArray(collection)) return collection.map((item, index) => [BigInt(index), item]);
  return collection instanceof Map ? [...collection] : Object.entries(collection as object);
}

/** How a macro handles the entries of a collection; `at` evaluates the i-th expression for an entry. */
interface Comprehension {
  readonly type: (checker: Checker, bodies: readonly Type[]) => Type;
  readonly run: (entries: readonly Entry[], at: (body: number, entry: Entry) => unknown) => unknown;
}

function overTwoVariables({ type, run }: Comprehension): (call: Call) => Macro {
  return ({ args, receiver }) => {
    const [keyName, valueName, ...bodies] = [nameOf(args[0]), nameOf(args[1]), ...args.slice(2)] as const;
    let key: Variable;
    let value: Variable;
    return {
      typeCheck(checker, _, context) {
        const collection = checker.check(receiver, context);
        const dyn = checker.getType('dyn');
        const isList = collection.kind === 'list';
        key = context.forkWithVariable(keyName, isList ? checker.getType('int') : (collection.keyType ?? dyn));
        value = key.forkWithVariable(valueName, collection.valueType ?? dyn);
        return type(
          checker,
          bodies.map((body) => checker.check(body, value)),
        );
      },
      evaluate(evaluator, _, context) {
        return run(entriesOf(evaluator.run(receiver, context)), (body, [k, v]) => {
          const outer = key.reuse(context).setIterValue(k, evaluator);
          return evaluator.run(bodies[body] as Ast, value.reuse(outer).setIterValue(v, evaluator));
        });
      },
    };
  };
}

const BOOL = (checker: Checker): Type => checker.getType('bool');

/** One deciding entry is enough, even if other entries fail. */
function quantifier(decisive: boolean): Comprehension {
  return {
    type: BOOL,
    run: (entries, at) => {
      let failure: unknown;
      for (const entry of entries) {
        try {
          if (at(0, entry) === decisive) return decisive;
        } catch (error) {
          failure ??= error;
        }
      }
      if (failure !== undefined) throw failure;
      return !decisive;
    },
  };
}

const EXISTS_ONE: Comprehension = {
  type: BOOL,
  run: (entries, at) => entries.filter((entry) => at(0, entry) === true).length === 1,
};

function transform(kind: 'list' | 'map', hasFilter: boolean): Comprehension {
  const body = hasFilter ? 1 : 0;
  return {
    type: (checker) => checker.getType(kind),
    run: (entries, at) => {
      const kept = hasFilter ? entries.filter((entry) => at(0, entry) === true) : entries;
      if (kind === 'list') return kept.map((entry) => at(body, entry));
      return new Map(kept.map((entry) => [entry[0], at(body, entry)]));
    },
  };
}

/** A macro over one variable, which takes each item of the receiver, or the value of an optional. */
function overOneVariable(
  type: (checker: Checker, receiver: Type, body: Type) => Type,
  run: (receiver: unknown, at: (item: unknown) => unknown) => unknown,
): (call: Call) => Macro {
  return ({ args, receiver }) => {
    const name = nameOf(args[0]);
    const body = args[1] as Ast;
    let variable: Variable;
    return {
      typeCheck(checker, _, context) {
        const collection = checker.check(receiver, context);
        variable = context.forkWithVariable(name, collection.valueType ?? checker.getType('dyn'));
        return type(checker, collection, checker.check(body, variable));
      },
      evaluate(evaluator, _, context) {
        return run(evaluator.run(receiver, context), (item) =>
          evaluator.run(body, variable.reuse(context).setIterValue(item, evaluator)),
        );
      },
    };
  };
}

const OPTIONAL = (checker: Checker): Type => checker.getType('optional');

const optMap = overOneVariable(OPTIONAL, (receiver, at) => {
  const optional = receiver as Optional;
  return optional.hasValue() ? Optional.of(at(optional.value())) : optional;
});

const optFlatMap = overOneVariable(OPTIONAL, (receiver, at) => {
  const optional = receiver as Optional;
  return optional.hasValue() ? at(optional.value()) : optional;
});

const sortBy = overOneVariable(
  (_, receiver) => receiver,
  (receiver, at) => {
    const keyed = (receiver as unknown[]).map((item) => [at(item) as string | bigint, item] as const);
    return keyed.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, item]) => item);
  },
);

/** Registers all macros. As with the evaluator's own macros, a map is a receiver like a list. */
export function registerMacros(env: Environment): void {
  const three = 'ast, ast, ast';
  env
    .registerFunction(`list.all(${three}): bool`, overTwoVariables(quantifier(false)))
    .registerFunction(`list.exists(${three}): bool`, overTwoVariables(quantifier(true)))
    .registerFunction(`list.existsOne(${three}): bool`, overTwoVariables(EXISTS_ONE))
    .registerFunction(`list.exists_one(${three}): bool`, overTwoVariables(EXISTS_ONE))
    .registerFunction(`list.transformList(${three}): list`, overTwoVariables(transform('list', false)))
    .registerFunction(`list.transformList(${three}, ast): list`, overTwoVariables(transform('list', true)))
    .registerFunction(`list.transformMap(${three}): map`, overTwoVariables(transform('map', false)))
    .registerFunction(`list.transformMap(${three}, ast): map`, overTwoVariables(transform('map', true)))
    .registerFunction('list.sortBy(ast, ast): list', sortBy)
    .registerFunction('optional.optMap(ast, ast): optional', optMap)
    .registerFunction('optional.optFlatMap(ast, ast): optional', optFlatMap);
}
