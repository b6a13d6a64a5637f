// Macros: calls that are expanded by the parser. They bind variables, or test for a field.
import type { Expr, LoopMacro } from './ast.ts'
import { isKubernetes, type Dialect } from './dialect.ts'

interface MacroCall {
  readonly name: string
  readonly at: number
  readonly target: Expr | undefined
  readonly args: readonly Expr[]
  readonly dialect: Dialect
}

type Report = (at: number, message: string) => void

/** The expansion; undefined for an ordinary call. */
export function expandMacro(macro: MacroCall, report: Report): Expr | undefined {
  const { name, target, args, dialect } = macro
  if (target === undefined) return name === 'has' && args.length === 1 ? has(macro, report) : undefined
  if (name === 'bind' && target.kind === 'ident' && target.name === 'cel' && args.length === 3)
    return dialect === 'kubernetes' ? undefined : bind(macro, report)
  if (name === 'sortBy' && args.length === 2) return sortBy(macro, target, report)
  if ((name === 'optMap' || name === 'optFlatMap') && args.length === 2) return optionalMap(macro, target, report)
  const shape = loopShape(name, args.length, dialect)
  return shape === undefined ? undefined : loop(macro, target, shape, report)
}

interface LoopShape {
  readonly macro: LoopMacro
  readonly variables: 1 | 2
  readonly hasFilter: boolean
}

function loopShape(name: string, count: number, dialect: Dialect): LoopShape | undefined {
  switch (name) {
    case 'all':
    case 'exists':
      return count === 2 || count === 3 ? { macro: name, variables: count === 2 ? 1 : 2, hasFilter: false } : undefined
    case 'exists_one':
    case 'existsOne':
      if (count === 2 && name === 'existsOne' && isKubernetes(dialect)) return undefined
      return count === 2 || count === 3
        ? { macro: 'existsOne', variables: count === 2 ? 1 : 2, hasFilter: false }
        : undefined
    case 'map':
      return count === 2 || count === 3 ? { macro: name, variables: 1, hasFilter: count === 3 } : undefined
    case 'filter':
      return count === 2 ? { macro: name, variables: 1, hasFilter: false } : undefined
    case 'transformList':
    case 'transformMap':
    case 'transformMapEntry':
      return count === 3 || count === 4 ? { macro: name, variables: 2, hasFilter: count === 4 } : undefined
    default:
      return undefined
  }
}

function loop({ at, args }: MacroCall, range: Expr, shape: LoopShape, report: Report): Expr {
  const wrong =
    shape.macro === 'map' || shape.macro === 'filter'
      ? 'argument is not an identifier'
      : 'argument must be a simple name'
  const variables = args.slice(0, shape.variables).map((arg) => variableName(arg, wrong, report))
  const [first, second] = args
  if (second !== undefined && variables.length === 2 && variables[0] === variables[1])
    report(second.at, `duplicate variable name: ${variables[0]}`)
  const rest = args.slice(shape.variables)
  const body = rest.at(-1) ?? first
  if (body === undefined) throw new Error('a loop macro has a body')
  return { kind: 'loop', at, macro: shape.macro, range, variables, filter: shape.hasFilter ? rest[0] : undefined, body }
}

function variableName(arg: Expr, wrong: string, report: Report): string {
  if (arg.kind !== 'ident' || arg.name.startsWith('.')) {
    report(arg.at, wrong)
    return ''
  }
  if (arg.name === '__result__') report(arg.at, 'iteration variable overwrites accumulator variable')
  return arg.name
}

function has({ at, args: [arg] }: MacroCall, report: Report): Expr | undefined {
  if (arg === undefined) return undefined
  if (arg.kind === 'select' && !arg.isOptional) return { ...arg, at, isTest: true }
  report(arg.at, 'invalid argument to has() macro')
  return arg
}

/** The list is bound to a name, because the expansion has it twice: the list itself, and the keys of its elements. */
function sortBy({ at, args: [variable, key] }: MacroCall, list: Expr, report: Report): Expr | undefined {
  if (variable === undefined || key === undefined) return undefined
  const element = variableName(variable, 'argument is not an identifier', report)
  const input: Expr = { kind: 'ident', at, name: '@__sortBy_input__' }
  const keys: Expr = {
    kind: 'loop',
    at,
    macro: 'map',
    range: input,
    variables: [element],
    filter: undefined,
    body: key,
  }
  const sorted: Expr = { kind: 'call', at, name: '@sortByAssociatedKeys', target: input, args: [keys] }
  return { kind: 'bind', at, name: input.name, value: list, body: sorted }
}

function bind({ at, args: [variable, value, body] }: MacroCall, report: Report): Expr | undefined {
  if (variable === undefined || value === undefined || body === undefined) return undefined
  if (variable.kind !== 'ident') report(variable.at, 'cel.bind() variable names must be simple identifiers')
  return { kind: 'bind', at, name: variable.kind === 'ident' ? variable.name : '', value, body }
}

function optionalMap({ name, at, args: [variable, body] }: MacroCall, operand: Expr, report: Report): Expr | undefined {
  if (variable === undefined || body === undefined) return undefined
  if (variable.kind !== 'ident') report(variable.at, `${name}() variable name must be a simple identifier`)
  return {
    kind: 'optionalMap',
    at,
    operand,
    name: variable.kind === 'ident' ? variable.name : '',
    body,
    isFlat: name === 'optFlatMap',
  }
}
