// The kinds agree with the facts recorded from upstream: names, scopes, columns, defaults.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { messageIn } from '../schema/descriptor/contained-messages.ts'
import { addOnGroups, kinds } from './kinds.ts'
import * as discoveryTypes from './meta/v1/discovery-types.ts'

const facts = <T>(name: string): T =>
  JSON.parse(readFileSync(new URL(`../../test/facts/${name}.json`, import.meta.url), 'utf8')) as T

interface TableFact {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly columns: readonly {
    readonly name: string
    readonly type: string
    readonly format: string
    readonly priority: number
  }[]
}

interface DiscoveryFact {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly scope: string
  readonly singularResource: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

/** They have no objects that could be listed in a table. */
const withoutTable = new Set([
  'v1 Binding',
  'authentication.k8s.io/v1 SelfSubjectReview',
  'authentication.k8s.io/v1 TokenReview',
  'authorization.k8s.io/v1 LocalSubjectAccessReview',
  'authorization.k8s.io/v1 SelfSubjectAccessReview',
  'authorization.k8s.io/v1 SelfSubjectRulesReview',
  'authorization.k8s.io/v1 SubjectAccessReview',
])

const tables = facts<TableFact[]>('tables')
const discovery = facts<DiscoveryFact[]>('discovery')

for (const kind of kinds.filter(({ group }) => !addOnGroups.includes(group))) {
  const { group, version, plural } = kind
  const isSame = (fact: { group: string; version: string; resource: string }) =>
    fact.group === group && fact.version === version && fact.resource === plural
  test(`${kind.apiVersion} ${kind.kind}: columns as upstream has them`, () => {
    const columns = kind.columns.map(({ name, type, format, priority }) => ({ name, type, format, priority }))
    const fact = tables.find(isSame)
    const isListed = !withoutTable.has(`${kind.apiVersion} ${kind.kind}`)
    equal(fact !== undefined, isListed, 'whether upstream has a table of the kind')
    deepEqual(columns, fact?.columns ?? [])
  })
  test(`${kind.apiVersion} ${kind.kind}: discovery as upstream has it`, () => {
    const fact = discovery.find(isSame)
    ok(fact !== undefined, 'the recorded discovery lacks the kind')
    equal(fact.scope, kind.namespaced ? 'Namespaced' : 'Cluster')
    deepEqual(
      [fact.singularResource, fact.shortNames ?? [], fact.categories ?? []],
      [kind.singular, kind.shortNames, kind.categories],
    )
  })
}

const sentence = /^[A-Z][^\n]{3,118}\.$/

for (const { apiVersion, kind, message } of kinds)
  test(`${apiVersion} ${kind}: it and the first level of its spec and status are described`, () => {
    match(message.description, sentence)
    for (const [name, field] of Object.entries(message.fields)) {
      if (name === 'metadata') continue
      const inner = name === 'spec' || name === 'status' ? messageIn(field.type) : undefined
      if (inner === undefined) match(field.description ?? '', sentence, name)
      else for (const [part, { description = '' }] of Object.entries(inner.fields)) match(description, sentence, part)
    }
  })

test('types of discovery: published names and unique numbers', () => {
  for (const { name, fields } of Object.values(discoveryTypes)) {
    match(name, /^io\.k8s\.apimachinery\.pkg\.(apis\.meta\.v1|version)\.[A-Z]\w+$/)
    const numbers = Object.values(fields).map(({ tag }) => tag)
    deepEqual(numbers, [...new Set(numbers)])
  }
})
