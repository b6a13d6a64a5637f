// Claim expressions, from the configuration to the user.
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import type { User } from '../request/request.ts'
import { authenticationConfig } from './authentication-config.ts'
import { mappedUser } from './claim-expressions.ts'

const issuer = { url: 'https://issuer.example', audiences: ['me'] }
const configured = (jwt: object) => ({
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'AuthenticationConfiguration',
  jwt: [{ issuer, claimMappings: { username: { expression: `'x:' + claims.sub` } }, ...jwt }],
})
const noUser: User = { name: '', uid: '', groups: [], extra: {} }
const claims = { sub: 'ann', roles: ['dev', ''], team: 'red', age: 41, email: 'a@x', email_verified: true }

function mapped(jwt: object): User | string | undefined {
  const expressions = authenticationConfig(configured(jwt)).issuers[0]?.expressions
  return expressions && mappedUser(claims, noUser, expressions)
}

test('claims are mapped to a user', () => {
  const claimMappings = {
    username: { expression: `claims.email_verified ? claims.email : claims.sub` },
    groups: { expression: `claims.roles.map(r, 'g:' + r).filter(r, r != 'g:') + [claims.team]` },
    uid: { expression: `'uid-' + string(claims.age)` },
    extra: [
      { key: 'example.com/team', valueExpression: 'claims.team' },
      { key: 'example.com/none', valueExpression: `''` },
    ],
  }
  deepEqual(mapped({ claimMappings }), {
    name: 'a@x',
    uid: 'uid-41',
    groups: ['g:dev', 'red'],
    extra: { 'example.com/team': ['red'] },
  })
})

const refusals: readonly (readonly [why: string, jwt: object, answer: string])[] = [
  [
    'a claim validation rule that fails',
    { claimValidationRules: [{ expression: 'claims.age < 18', message: 'children only' }] },
    "oidc: error evaluating claim validation expression: validation expression 'claims.age < 18' failed: children only",
  ],
  [
    'a user validation rule that fails',
    { userValidationRules: [{ expression: `!user.username.startsWith('x:')`, message: 'no x' }] },
    "oidc: error evaluating user info validation rule: validation expression '!user.username.startsWith('x:')' failed: no x",
  ],
  [
    'a name that is not a string',
    { claimMappings: { username: { expression: 'claims.age' } } },
    'oidc: error evaluating username claim expression: expression must return a string',
  ],
  [
    'a claim that does not exist',
    { claimMappings: { username: { expression: 'claims.name' } } },
    "oidc: error evaluating username claim expression: expression 'claims.name' resulted in error: no such key: name",
  ],
  [
    'an empty name',
    { claimMappings: { username: { expression: `''` } } },
    'oidc: empty username via CEL expression is not allowed',
  ],
]

for (const [why, jwt, answer] of refusals) test(`refused: ${why}`, () => equal(mapped(jwt), answer))

const mistakes: readonly (readonly [why: RegExp, jwt: object])[] = [
  [
    /^jwt\[0\]\.claimMappings\.username\.expression cannot be used: compilation failed: ERROR: <input>:1:1: undeclared reference to 'claim'/,
    { claimMappings: { username: { expression: 'claim.sub' } } },
  ],
  [
    /^jwt\[0\]\.claimMappings\.username\.claim and expression cannot both be set$/,
    { claimMappings: { username: { expression: 'claims.sub', claim: 'sub' } } },
  ],
  [
    /^jwt\[0\]\.userValidationRules\[0\]\.expression cannot be used: must evaluate to bool but got string$/,
    { userValidationRules: [{ expression: 'user.username' }] },
  ],
  [/^jwt\[0\]\.claimValidationRules\[0\]\.claim or expression is required$/, { claimValidationRules: [{}] }],
  [/claims\.email_verified must be used in it/, { claimMappings: { username: { expression: 'claims.email' } } }],
]

for (const [why, jwt] of mistakes)
  test(`a configuration is refused: ${why.source}`, () => {
    throws(() => authenticationConfig(configured(jwt)), { name: 'ConfigError', message: why })
  })
