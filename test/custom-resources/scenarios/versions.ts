// Several versions of a kind: conversion without a webhook, and a webhook that cannot be reached.
import {
  definition,
  get,
  mergePatch,
  objectSchema,
  patch,
  post,
  remove,
  version,
  widgetsOf,
  type Scenario,
} from '../scenario.ts'

const schemaV1 = objectSchema({
  spec: objectSchema({ a: { type: 'string' }, v1Only: { type: 'string', default: 'one' } }),
})
const schemaV2 = objectSchema({
  spec: objectSchema({ a: { type: 'string', maxLength: 3 }, v2Only: { type: 'string', default: 'two' } }),
})

const [one, two, alpha] = ['v1', 'v2', 'v1alpha1'].map((name) => widgetsOf('versions.example.com', name)) as [
  ReturnType<typeof widgetsOf>,
  ReturnType<typeof widgetsOf>,
  ReturnType<typeof widgetsOf>,
]
const unconverted: Scenario = {
  name: 'versions without conversion',
  definitions: [
    definition(one.group, [
      version(schemaV1),
      version(schemaV2, { name: 'v2', storage: false }),
      version(schemaV1, { name: 'v1alpha1', storage: false, deprecated: true }),
      version(schemaV1, { name: 'v1alpha2', storage: false, deprecated: true, deprecationWarning: 'use v1, please' }),
      version(schemaV1, { name: 'v0', storage: false, served: false }),
    ]),
  ],
  steps: [
    one.create('a', { spec: { a: 'long text', v1Only: 'x', v2Only: 'y' } }),
    get(one.path('a')),
    get(two.path('a')),
    get(alpha.path('a')),
    get('/apis/versions.example.com/v1alpha2/namespaces/default/widgets/a'),
    get('/apis/versions.example.com/v1alpha2/widgets'),
    get('/apis/versions.example.com/v0/namespaces/default/widgets/a'),
    get('/apis/versions.example.com/v9/namespaces/default/widgets/a'),
    two.create('b', { spec: { a: 'x', v1Only: 'x', v2Only: 'y' } }),
    two.create('c', { spec: { a: 'long text' } }),
    get(one.path('b')),
    get(two.path('b')),
    get(two.list),
    patch(two.path('a'), mergePatch, { metadata: { labels: { a: 'b' } } }),
    patch(two.path('a'), mergePatch, { spec: { a: 'other' } }),
    patch(two.path('a'), mergePatch, { spec: { a: 'abc' } }),
    get(one.path('a')),
    two.apply('two', 'a', { spec: { v2Only: 'applied' } }),
    one.apply('one', 'a', { spec: { v1Only: 'applied' } }, '&force=true'),
    one.apply('two', 'a', { spec: { a: 'def' } }),
    get(two.path('a')),
    post(one.list, two.object('d')),
    post(two.list, one.object('d')),
    alpha.create('d', { spec: {} }),
    patch(alpha.path('d'), mergePatch, { spec: { a: 'y' } }),
    get(
      `${two.list}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=60`,
      { events: 4 },
    ),
    remove(alpha.path('d')),
    get('/apis/versions.example.com'),
    get('/apis/versions.example.com/v2'),
    get('/apis/versions.example.com/v0'),
  ],
}

const [kept, converted] = ['v1', 'v2'].map((name) => widgetsOf('webhook.example.com', name)) as [
  ReturnType<typeof widgetsOf>,
  ReturnType<typeof widgetsOf>,
]
const unreachable: Scenario = {
  name: 'a conversion webhook that cannot be reached',
  definitions: [
    definition(kept.group, [version(schemaV1), version(schemaV2, { name: 'v2', storage: false })], {
      conversion: {
        strategy: 'Webhook',
        webhook: {
          conversionReviewVersions: ['v1'],
          clientConfig: { service: { namespace: 'default', name: 'converter', path: '/convert' } },
        },
      },
    }),
  ],
  steps: [
    get(converted.list),
    kept.create('a', { spec: { a: 'x' } }),
    get(kept.path('a')),
    get(converted.path('a')),
    get(converted.list),
    get(`${converted.list}?limit=1`),
    converted.create('b', { spec: {} }),
    patch(converted.path('a'), mergePatch, { spec: { a: 'y' } }),
    converted.apply('one', 'a', { spec: { a: 'z' } }),
    remove(converted.path('a')),
    get(converted.path('a'), { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' }),
    get(converted.list, { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' }),
    get(`${converted.list}?watch=1&resourceVersion=0&timeoutSeconds=60`, { events: 1 }),
    remove(kept.path('a')),
  ],
}

const refused = (group: string, versionName: string) => widgetsOf(group, versionName)
const address: Scenario = {
  name: 'a conversion webhook that refuses connections',
  definitions: [
    definition('refused.example.com', [version(schemaV1), version(schemaV2, { name: 'v2', storage: false })], {
      conversion: {
        strategy: 'Webhook',
        webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1:1/convert' } },
      },
    }),
  ],
  steps: [
    refused('refused.example.com', 'v1').create('a', { spec: { a: 'x' } }),
    get(refused('refused.example.com', 'v2').path('a')),
    get(refused('refused.example.com', 'v2').list),
    refused('refused.example.com', 'v2').create('b'),
  ],
}

export const versions: readonly Scenario[] = [unconverted, unreachable, address]
