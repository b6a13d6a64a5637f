// Schemas for the editor: each document is read once, and only of groups and versions that exist.
import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { OpenApiDocument } from '../model/editing/schema-node.ts'
import type { Actions, Resource } from '../source/source.ts'
import { FieldSchemas } from './field-schemas.ts'

const resource = (group: string, version: string, kind: string): Resource => ({
  group,
  version,
  kind,
  plural: `${kind.toLowerCase()}s`,
  isNamespaced: true,
  verbs: [],
})
const resources = [resource('', 'v1', 'Pod'), resource('apps', 'v1', 'Deployment')]

const documentOf = (group: string, version: string, kind: string): OpenApiDocument => ({
  components: {
    schemas: { some: { description: kind, 'x-kubernetes-group-version-kind': [{ group, version, kind }] } },
  },
})

/** Schemas whose documents come from a function, and what was read. */
const schemasOf = (read: () => Promise<OpenApiDocument>, known: readonly Resource[] = resources) => {
  const paths: string[] = []
  const actions = {
    openApi: ({ group, version }: Pick<Resource, 'group' | 'version'>) => {
      paths.push(`${group}/${version}`)
      return read()
    },
  } as unknown as Actions
  return { paths, schemas: new FieldSchemas({ source: { actions }, resources: () => known }) }
}

const podKind = { apiVersion: 'v1', kind: 'Pod' }
const deploymentKind = { apiVersion: 'apps/v1', kind: 'Deployment' }

suite('schemas of fields', () => {
  test('a document is read once', async () => {
    const { schemas, paths } = schemasOf(async () => documentOf('apps', 'v1', 'Deployment'))
    const [first, second] = await Promise.all([schemas.of([deploymentKind]), schemas.of([deploymentKind])])
    equal(first.schemaOf(deploymentKind)?.description, 'Deployment')
    equal(second.schemaOf(deploymentKind)?.description, 'Deployment')
    equal(first.schemaOf({ ...deploymentKind, kind: 'Other' }), undefined)
    deepEqual(paths, ['apps/v1'])
    deepEqual(first.all, [podKind, deploymentKind])
    schemas.forget()
    await schemas.of([deploymentKind])
    deepEqual(paths, ['apps/v1', 'apps/v1'])
  })

  test('a document that cannot be read is read again', async () => {
    let isBroken = true
    const { schemas } = schemasOf(async () => {
      if (isBroken) throw new Error('503')
      return documentOf('', 'v1', 'Pod')
    })
    equal((await schemas.of([podKind])).schemaOf(podKind), undefined)
    isBroken = false
    equal((await schemas.of([podKind])).schemaOf(podKind)?.description, 'Pod')
  })

  test('what is not served is not read', async () => {
    const { schemas, paths } = schemasOf(async () => documentOf('', 'v1', 'Pod'))
    for (const apiVersion of ['', 'v', 'app/v1', '../v1', 'apps/v1/x?a=b', 'apps/v2'])
      equal((await schemas.of([{ apiVersion, kind: 'Pod' }])).schemaOf({ apiVersion, kind: 'Pod' }), undefined)
    deepEqual(
      paths.filter((path) => path !== 'apps/v1'),
      [],
    )
  })

  test('a report has none', async () => {
    const schemas = new FieldSchemas({ source: { actions: undefined }, resources: () => resources })
    equal((await schemas.of([podKind])).schemaOf(podKind), undefined)
  })

  test('the documents of a text and those that are kept are bounded', async () => {
    const many = Array.from({ length: 30 }, (_, at) => resource(`g${at}`, 'v1', 'Thing'))
    const { schemas, paths } = schemasOf(async () => documentOf('', 'v1', 'Pod'), many)
    const kinds = many.map(({ group }) => ({ apiVersion: `${group}/v1`, kind: 'Thing' }))
    await schemas.of(kinds)
    equal(paths.length, 8)
    for (const kind of kinds) await schemas.of([kind])
    equal(paths.length, 30)
    await schemas.of([{ apiVersion: 'g0/v1', kind: 'Thing' }])
    equal(paths.length, 31)
  })
})
