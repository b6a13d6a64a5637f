// CEL expressions of an issuer: the mapping of claims to a user, and the validation of claims and user.
import { apiEnvironment } from '../../api/expressions/api-environment.ts'
import { compileExpression } from '../../api/expressions/compile-expression.ts'
import { userInfoType } from '../../api/expressions/user-info-type.ts'
import type { Program } from '../../cel/program.ts'
import { CostLimitError, type Activation } from '../../cel/run/evaluation-frame.ts'
import { boolType, dynType, mapOf, stringType } from '../../cel/types/cel-type.ts'
import { EvalError } from '../../cel/values/eval-error.ts'
import { isList } from '../../cel/values/equality.ts'
import { fromJson } from '../../cel/values/json-value-conversion.ts'
import type { Value } from '../../cel/values/value.ts'
import type { ConfigReader } from '../config/config-reader.ts'
import type { User } from '../request/request.ts'
import type { Claims } from './json-web-token.ts'

export interface ClaimExpression {
  readonly text: string
  readonly program: Program
}

export interface ClaimRule extends ClaimExpression {
  readonly message: string
}

/** The mappings that use an expression instead of a claim, and the validation rules. */
export interface ClaimExpressions {
  readonly username: ClaimExpression | undefined
  readonly groups: ClaimExpression | undefined
  readonly uid: ClaimExpression | undefined
  readonly extra: readonly { readonly key: string; readonly value: ClaimExpression }[]
  readonly claimRules: readonly ClaimRule[]
  readonly userRules: readonly ClaimRule[]
}

const costMax = 10_000_000
const ofClaims = apiEnvironment.with({ claims: mapOf(stringType, dynType) })
const ofUser = apiEnvironment.with({ user: userInfoType })

function read(
  config: ConfigReader,
  name: string,
  environment: typeof ofClaims,
  ...types: readonly (typeof boolType)[]
) {
  const text = config.string(name, '')
  if (text === '') return undefined
  const result = compileExpression(text, environment, ...types)
  if (result.kind === 'wrong') throw config.error(name, `cannot be used: ${result.message}`)
  return { text, program: result.program }
}

/** The expression of a mapping; undefined if there is none. */
export const claimExpression = (config: ConfigReader, name = 'expression'): ClaimExpression | undefined =>
  read(config, name, ofClaims)

const rule = (config: ConfigReader, environment: typeof ofClaims): ClaimRule | undefined => {
  const found = read(config, 'expression', environment, boolType)
  const message = config.string('message', '')
  return found === undefined ? undefined : { ...found, message }
}

export const claimRule = (config: ConfigReader): ClaimRule | undefined => rule(config, ofClaims)
export const userRule = (config: ConfigReader): ClaimRule | undefined => rule(config, ofUser)

/** The token's claims are rejected. */
class ClaimError extends Error {}

/** Throws a ClaimError if the evaluation fails. */
function evaluated({ text, program }: ClaimExpression, variables: Activation, what: string): Value {
  try {
    return program.evaluate(variables, costMax).value
  } catch (error) {
    if (error instanceof EvalError || error instanceof CostLimitError)
      throw new ClaimError(`oidc: error evaluating ${what}: expression '${text}' resulted in error: ${error.message}`)
    throw error
  }
}

/** `user` with the fields that expressions map; the reason if the token is rejected. */
export function mappedUser(claims: Claims, user: User, expressions: ClaimExpressions): User | string {
  const { username, groups, uid, extra, claimRules, userRules } = expressions
  const variables = { claims: fromJson(claims) }
  try {
    for (const each of claimRules) check(each, variables, 'claim validation expression')
    const mapped = {
      name:
        username === undefined ? user.name : usernameOf(evaluated(username, variables, 'username claim expression')),
      groups:
        groups === undefined ? user.groups : texts(evaluated(groups, variables, 'group claim expression'), 'group'),
      uid: uid === undefined ? user.uid : textOf(evaluated(uid, variables, 'uid claim expression'), 'uid'),
      extra: { ...user.extra, ...extraOf(extra, variables) },
    }
    const { name: of, ...rest } = mapped
    const seen = { user: fromJson({ username: of, ...rest }, userInfoType) }
    for (const each of userRules) check(each, seen, 'user info validation rule')
    return mapped
  } catch (error) {
    if (error instanceof ClaimError) return error.message
    throw error
  }
}

function check(each: ClaimRule, variables: Activation, what: string): void {
  if (evaluated(each, variables, what) !== true)
    throw new ClaimError(`oidc: error evaluating ${what}: validation expression '${each.text}' failed: ${each.message}`)
}

function textOf(value: Value, what: string): string {
  if (typeof value === 'string') return value
  throw new ClaimError(`oidc: error evaluating ${what} claim expression: expression must return a string`)
}

function usernameOf(value: Value): string {
  const found = textOf(value, 'username')
  if (found === '') throw new ClaimError('oidc: empty username via CEL expression is not allowed')
  return found
}

/** A string, a list of strings or null; empty strings are dropped. */
function texts(value: Value, what: string): readonly string[] {
  if (value === null) return []
  const all = isList(value) ? value : [value]
  return all
    .map((each) => {
      if (typeof each === 'string') return each
      throw new ClaimError(
        `oidc: error evaluating ${what} claim expression: expression must return a string or a list of strings`,
      )
    })
    .filter((each) => each !== '')
}

function extraOf(extra: ClaimExpressions['extra'], variables: Activation): Record<string, readonly string[]> {
  const found = extra.map(
    ({ key, value }) => [key, texts(evaluated(value, variables, 'extra claim expression'), 'extra')] as const,
  )
  return Object.fromEntries(found.filter(([, values]) => values.length > 0))
}
