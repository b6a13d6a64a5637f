import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { secret } from '../../api/core/v1/secret.ts'
import { decode } from '../../schema/decoding/decode.ts'
import type { Secret } from '../../api/core/v1/secret.ts'
import { pullDecision } from './pull-decision.ts'
import { nodeImages } from './node-images.ts'
import { credentialsFor, registryOf } from './pull-secrets.ts'

const needs: [policy: 'Always' | 'IfNotPresent' | 'Never', isPresent: boolean, need: string][] = [
  ['Always', true, 'pull'],
  ['IfNotPresent', true, 'use'],
  ['IfNotPresent', false, 'pull'],
  ['Never', true, 'use'],
  ['Never', false, 'fail'],
]
for (const [policy, isPresent, need] of needs)
  test(`${policy}, ${isPresent ? 'present' : 'absent'}: ${need}`, () => equal(pullDecision(policy, isPresent), need))

const registries: [image: string, registry: string][] = [
  ['nginx', 'docker.io'],
  ['library/nginx:1', 'docker.io'],
  ['registry.example.com/app', 'registry.example.com'],
  ['127.0.0.1:5000/app@sha256:0', '127.0.0.1:5000'],
  ['localhost/app', 'localhost'],
]
for (const [image, registry] of registries)
  test(`${image} comes from ${registry}`, () => equal(registryOf(image), registry))

const secretOf = (data: Record<string, unknown>): Secret => {
  const encoded = Object.entries(data).map(([key, value]) => [key, btoa(JSON.stringify(value))])
  return decode(secret.message, { metadata: { name: 's' }, data: Object.fromEntries(encoded) })
    .value as unknown as Secret
}

test('credentials are those of the image’s registry, in both forms', () => {
  const modern = secretOf({
    '.dockerconfigjson': {
      auths: { 'https://r.example.com/v2/': { auth: btoa('robot:a:b') }, other: { username: 'x', password: 'y' } },
    },
  })
  const old = secretOf({ '.dockercfg': { 'r.example.com': { username: 'u', password: 'p' } } })
  deepEqual(credentialsFor('r.example.com/app', [modern, old]), [
    { username: 'robot', password: 'a:b' },
    { username: 'u', password: 'p' },
  ])
  deepEqual(credentialsFor('nginx', [modern, secretOf({ '.dockerconfigjson': 'nonsense' })]), [])
})

test('a node reports its largest images with a few of their names', async () => {
  const image = (id: string, sizeBytes: number, names: number) => ({
    id,
    tags: Array.from({ length: names }, (_, i) => `${id}:${i}`),
    digests: [`${id}@sha256:0`],
    sizeBytes,
    uid: 0,
    username: '',
  })
  const images = () => Promise.resolve([image('small', 1, 1), image('large', 2, 9), image('simulated', 0, 1)])
  deepEqual(await nodeImages({ images }, new AbortController().signal), [
    { names: ['large@sha256:0', 'large:0', 'large:1', 'large:2', 'large:3'], sizeBytes: 2 },
    { names: ['small@sha256:0', 'small:0'], sizeBytes: 1 },
  ])
})
