// Flow 12: the API server calls a webhook over TLS: the effect of its response, and of its failure on the request.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { present } from '../../src/base/assert.ts'
import { Channel } from '../../src/base/async/channel.ts'
import { configMap, startCluster } from '../../src/cluster/index.ts'
import {
  authorityOf,
  base64,
  patchWith,
  webhook,
  webhookServer,
} from '../../src/apiserver/admission/plugins/webhooks/webhooks.harness.ts'
import { comparePage, excerpt } from './page.ts'
import { rawCalls, type RawAnswer } from './raw-calls.ts'

const registration = '/apis/admissionregistration.k8s.io/v1'
const maps = '/api/v1/namespaces/default/configmaps'

test('12 webhook', async () => {
  await using cluster = await startCluster({ https: true, nodes: 0 })
  await using admin = rawCalls(cluster.kubeconfig)
  const waiting = new Channel<undefined>(10)
  const never = Promise.withResolvers<object>()
  await using hooks = await webhookServer(({ path }) => {
    if (path.startsWith('/label')) return patchWith({ op: 'add', path: '/metadata/labels', value: { seen: 'yes' } })
    if (path.startsWith('/deny')) return { allowed: false, status: { code: 409, reason: 'Conflict', message: 'taken' } }
    if (path.startsWith('/garbage')) return 'no json'
    if (path.startsWith('/slow')) {
      waiting.push(undefined)
      return never.promise
    }
    return {}
  })
  /** One webhook at a time, for the ConfigMaps with this name. */
  const withHook = async (name: string, path: string, more: object, query = ''): Promise<RawAnswer> => {
    const kind = path === '/label' ? 'mutating' : 'validating'
    const url = `${registration}/${kind}webhookconfigurations`
    const hook = webhook(hooks, {
      clientConfig: { url: hooks.url + path, caBundle: hooks.caBundle },
      objectSelector: { matchLabels: { name } },
      ...more,
    })
    const { status, body } = await admin.call('POST', url, { metadata: { name }, webhooks: [hook] })
    equal(status, 201, JSON.stringify(body))
    const answer = await admin.call('POST', maps + query, { metadata: { name, labels: { name } }, data: { a: '1' } })
    await admin.call('DELETE', `${url}/${name}`)
    return answer
  }
  const slow = async (name: string, failurePolicy: string): Promise<RawAnswer> => {
    const late = withHook(name, '/slow', { failurePolicy })
    present(await waiting[Symbol.asyncIterator]().next(), 'it was asked')
    await cluster.clock.advance('2s')
    return late
  }
  const stranger = { clientConfig: { url: `${hooks.url}/x`, caBundle: base64(authorityOf('stranger').certificate) } }
  const dead = { clientConfig: { url: 'https://127.0.0.1:1/x' } }
  const ignored = { failurePolicy: 'Ignore' }
  const condition = (expression: string) => ({ matchConditions: [{ name: 'c', expression }] })
  const failed = (path: string, why: string) =>
    `Internal error occurred: failed calling webhook "w.example.com": failed to call webhook: Post "${path}?timeout=2s": ${why}`
  const at = (path: string) => hooks.url + path
  const untrusted = 'tls: failed to verify certificate: x509: certificate signed by unknown authority'
  const rows: [name: string, answer: RawAnswer, code: number, message: string | RegExp | undefined][] = [
    ['patched', await withHook('patched', '/label', {}), 201, undefined],
    [
      'denied',
      await withHook('denied', '/deny', {}),
      409,
      'admission webhook "w.example.com" denied the request: taken',
    ],
    ['late', await slow('late', 'Fail'), 500, failed(at('/slow'), 'context deadline exceeded')],
    ['late-ignored', await slow('late-ignored', 'Ignore'), 201, undefined],
    ['untrusted', await withHook('untrusted', '/x', stranger), 500, failed(at('/x'), untrusted)],
    ['untrusted-ignored', await withHook('untrusted-ignored', '/x', { ...stranger, ...ignored }), 201, undefined],
    [
      'dead',
      await withHook('dead', '/x', dead),
      500,
      failed('https://127.0.0.1:1/x', 'dial tcp 127.0.0.1:1: connect: connection refused'),
    ],
    ['dead-ignored', await withHook('dead-ignored', '/x', { ...dead, ...ignored }), 201, undefined],
    [
      'garbage',
      await withHook('garbage', '/garbage', {}),
      500,
      /^Internal error occurred: failed calling webhook "w.example.com": failed to call webhook: couldn't get version\/kind; json parse error: /,
    ],
    ['garbage-ignored', await withHook('garbage-ignored', '/garbage', ignored), 201, undefined],
    ['condition-true', await withHook('condition-true', '/deny', condition(`object.data.a == '1'`)), 409, undefined],
    ['condition-false', await withHook('condition-false', '/deny', condition(`object.data.a == '2'`)), 201, undefined],
    [
      'condition-fails',
      await withHook('condition-fails', '/deny', condition(`object.data.b == '2'`)),
      403,
      /is forbidden: expression 'object.data.b == '2'' resulted in error: no such key: b$/,
    ],
    [
      'elsewhere',
      await withHook('elsewhere', '/deny', { namespaceSelector: { matchLabels: { team: 'other' } } }),
      201,
      undefined,
    ],
    ['dry', await withHook('dry', '/x', { sideEffects: 'NoneOnDryRun' }, '?dryRun=All'), 201, undefined],
  ]
  never.resolve({})
  for (const [name, { status, body }, code, message] of rows) {
    equal(status, code, `${name}: ${JSON.stringify(body)}`)
    if (typeof message === 'string') equal(body.message, message)
    else if (message !== undefined) match(body.message, message)
  }
  deepEqual(rows[0]?.[1].body.metadata.labels, { seen: 'yes' })
  const drawn = (...names: string[]) =>
    names
      .map((name) => excerpt(cluster.flow(configMap, name), /client ──►/, /Webhook\//, /══► Store: put configmap/))
      .join('\n\n')
  await comparePage('12-webhook', 'Webhook', [
    {
      heading: 'Changed and denied',
      text: 'A mutating webhook labels the object before it is stored; a validating webhook denies another object with its own code and message.',
      diagram: drawn('patched', 'denied'),
    },
    {
      heading: 'Webhooks that fail',
      text: 'A webhook that does not respond within its timeout of two seconds, one with a certificate of another CA, one that does not listen, and one with an invalid response: each first with `failurePolicy: Fail`, then with `Ignore`.',
      diagram: drawn(
        ...['late', 'late-ignored', 'untrusted', 'untrusted-ignored'],
        ...['dead', 'dead-ignored', 'garbage', 'garbage-ignored'],
      ),
    },
    {
      heading: 'Called or not',
      text: 'Match conditions that are true, false or fail; labels of the namespace; a dry run, for which only webhooks without side effects are called and nothing is stored.',
      diagram: drawn('condition-true', 'condition-false', 'condition-fails', 'elsewhere', 'dry'),
    },
  ])
})
