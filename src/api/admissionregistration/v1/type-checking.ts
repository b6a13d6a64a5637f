// Type checking of a policy: the errors of its expressions for the kinds that it matches.
import { check } from '../../../cel/check/checker.ts'
import type { Environment } from '../../../cel/environment/environment.ts'
import { objectMessageType } from '../../../cel/types/message-type.ts'
import { parse } from '../../../cel/syntax/parser.ts'
import { ExpressionError, issuesText } from '../../../cel/syntax/source.ts'
import { dynType, type CelType } from '../../../cel/types/cel-type.ts'
import { admissionEnvironment, VariableTypes, withVariables } from '../../expressions/admission-environment.ts'
import type { Kind } from '../../kind/kind.ts'
import type { MatchResources } from './match-resources.ts'
import type { ExpressionWarning, ValidatingAdmissionPolicy } from './validating-admission-policy.ts'

/** A version of a kind, and the type of its objects in expressions. */
export interface TypedKind extends Pick<Kind, 'group' | 'version' | 'kind' | 'plural'> {
  objectType(): CelType
}

export const typedKind = ({ group, version, kind, plural, message }: Kind): TypedKind => ({
  group,
  version,
  kind,
  plural,
  objectType: () => objectMessageType(message),
})

/** No more kinds than these are checked. The bound is upstream's. */
const kindsMax = 10

/**
 * Warnings for the status of the policy: one for each expression that is wrong for a kind, with all kinds in one
 * text.
 */
export function typeCheck(
  { spec }: ValidatingAdmissionPolicy,
  kinds: readonly TypedKind[],
): readonly ExpressionWarning[] {
  const matched = kindsMatched(spec.matchConstraints, kinds)
  const params = kinds.find(
    ({ group, version, kind }) =>
      kind === spec.paramKind?.kind && (group === '' ? version : `${group}/${version}`) === spec.paramKind.apiVersion,
  )
  const environments = matched.map((kind) => ({ kind, environment: typedEnvironment(kind, params, spec) }))
  const warningsOf = (expression: string, fieldRef: string): ExpressionWarning[] => {
    const wrong = environments.flatMap(({ kind, environment }) => {
      const text = problemsOf(expression.trim(), environment)
      return text === undefined ? [] : [`${kindText(kind)}: ${text}`]
    })
    return wrong.length === 0 ? [] : [{ fieldRef, warning: `${wrong.join('\n')}\n` }]
  }
  return (spec.validations ?? []).flatMap(({ expression, messageExpression = '' }, index) => [
    ...warningsOf(expression, `spec.validations[${index}].expression`),
    ...(messageExpression.trim() === ''
      ? []
      : warningsOf(messageExpression, `spec.validations[${index}].messageExpression`)),
  ])
}

/** Kinds that the rules name explicitly; a `*` is not expanded. */
function kindsMatched(match: MatchResources | undefined, kinds: readonly TypedKind[]): readonly TypedKind[] {
  const rules = match?.resourceRules ?? []
  const isNamed = (names: readonly string[] | undefined, name: string) => names?.includes(name) ?? false
  return kinds
    .filter(({ group, version, plural }) =>
      rules.some(
        ({ apiGroups, apiVersions, resources }) =>
          isNamed(apiGroups, group) && isNamed(apiVersions, version) && isNamed(resources, plural),
      ),
    )
    .toSorted((a, b) => (kindText(a) < kindText(b) ? -1 : 1))
    .slice(0, kindsMax)
}

const kindText = ({ group, version, kind }: TypedKind): string =>
  `${group === '' ? '' : `${group}/`}${version}, Kind=${kind}`

function typedEnvironment(
  kind: TypedKind,
  params: TypedKind | undefined,
  { paramKind, variables = [] }: ValidatingAdmissionPolicy['spec'],
): Environment {
  const object = kind.objectType()
  const base = admissionEnvironment({ hasParams: paramKind !== undefined, hasAuthorizer: true }).with({
    object,
    oldObject: object,
    ...(params === undefined ? {} : { params: params.objectType() }),
  })
  const types = new VariableTypes()
  for (const { name, expression } of variables)
    types.set(name, typeIn(expression.trim(), withVariables(base, types)) ?? dynType)
  return withVariables(base, types)
}

function typeIn(expression: string, environment: Environment): CelType | undefined {
  try {
    const { type, issues } = check(parse(expression), environment)
    return issues.length === 0 ? type : undefined
  } catch (error) {
    if (error instanceof ExpressionError) return undefined
    throw error
  }
}

function problemsOf(expression: string, environment: Environment): string | undefined {
  try {
    const { issues } = check(parse(expression), environment)
    return issues.length === 0 ? undefined : issuesText(expression, issues)
  } catch (error) {
    if (error instanceof ExpressionError) return error.message
    throw error
  }
}
