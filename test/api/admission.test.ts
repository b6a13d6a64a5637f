// Admission through the real port, with real webhooks over HTTPS: the status, message and audit lines of each outcome.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  authorityOf,
  base64,
  patchWith,
  webhook,
  webhookServer,
  type Handle,
} from '../../src/apiserver/admission/plugins/webhooks/webhooks.harness.ts'
import { rawCalls, type RawAnswer, type RawCalls } from '../flows/raw-calls.ts'
import { flowEventsPath } from '../../src/api/coxswain/v1/flow-protocol.ts'
import { newFolder, startUp, startUpIn } from '../process.ts'
import { until } from '../until.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const registration = '/apis/admissionregistration.k8s.io/v1'
const hidden = 'a-value-that-anonymous-may-read'

interface Line {
  readonly stage: string
  readonly level: string
  readonly verb: string
  readonly objectRef?: { readonly name?: string }
  readonly requestURI: string
  readonly responseStatus?: { readonly code?: number; readonly message?: string; readonly reason?: string }
  readonly annotations?: Readonly<Record<string, string>>
}

const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] }

async function startAudited() {
  const folder = await newFolder()
  const file = join(folder, 'audit.log')
  const policyFile = join(folder, 'policy.json')
  await writeFile(policyFile, JSON.stringify(policy))
  const flags = ['--audit-log-path', file, '--audit-policy-file', policyFile]
  const up = await startUpIn(folder, '--runtime', 'none', ...flags)
  const admin = rawCalls(await readFile(up.kubeconfig, 'utf8'))
  return {
    admin,
    kubeconfig: await readFile(up.kubeconfig, 'utf8'),
    /** The audit lines of requests whose URI contains this text. */
    async linesOf(words: string): Promise<Line[]> {
      // Responses wait for their audit lines; the last line may belong to another request and be incomplete.
      const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1)
      return lines.map((line) => JSON.parse(line) as Line).filter(({ requestURI }) => requestURI.includes(words))
    },
    wholeRecord: () => readFile(file, 'utf8'),
    logged: () => up.logged(),
    async [Symbol.asyncDispose]() {
      await admin[Symbol.asyncDispose]()
      await up[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const wire = (status: number, contentType: string, body: string, headers: Record<string, string> = {}) => ({
  wire: { status, headers: { 'content-type': contentType, ...headers }, body },
})
const allowedReview = (uid: string) =>
  JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, allowed: true } })

/** Each way in which a webhook fails, and the message after `failed calling webhook "w.example.com": `. */
const failures: Record<string, { handle: Handle; more?: object; expected: string | RegExp }> = {
  slow: {
    handle: () => new Promise(() => {}),
    more: { timeoutSeconds: 1 },
    expected: 'failed to call webhook: Post "URL/slow?timeout=1s": context deadline exceeded',
  },
  dead: {
    handle: () => ({}),
    more: { clientConfig: { url: 'https://127.0.0.1:1/dead' } },
    expected:
      'failed to call webhook: Post "https://127.0.0.1:1/dead?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused',
  },
  'wrong-authority': {
    handle: () => ({}),
    more: { caBundle: base64(authorityOf('other').certificate) },
    expected:
      'failed to call webhook: Post "URL/wrong-authority?timeout=30s": tls: failed to verify certificate: x509: certificate signed by unknown authority',
  },
  garbage: {
    handle: () => 'no json',
    expected: /^failed to call webhook: couldn't get version\/kind; json parse error: /,
  },
  huge: {
    handle: () => ' '.repeat(2 << 20),
    expected: 'failed to call webhook: Post "URL/huge?timeout=30s": the response is larger than 1048576 bytes',
  },
  redirect: {
    handle: () => wire(302, 'text/plain', '', { location: 'https://127.0.0.1:1/' }),
    expected:
      'failed to call webhook: the server responded with the status code 302 but did not return more information',
  },
  crash: {
    handle: () => wire(500, 'text/plain', 'it fell\n'),
    expected: 'failed to call webhook: an error on the server ("it fell") has prevented the request from succeeding',
  },
  'not-found': {
    handle: () => wire(404, 'text/plain', 'no'),
    expected: 'failed to call webhook: the server could not find the requested resource',
  },
  absent: {
    handle: () => '{}',
    expected: 'received invalid webhook response: webhook response was absent',
  },
  stranger: {
    handle: () => allowedReview('another'),
    expected: /^received invalid webhook response: expected response.uid="[\da-f-]+", got "another"$/,
  },
}

async function configure(admin: RawCalls, kind: string, name: string, hooks: readonly object[]): Promise<string> {
  const path = `${registration}/${kind}webhookconfigurations`
  const { status, body } = await admin.call('POST', path, { metadata: { name }, webhooks: hooks })
  equal(status, 201, JSON.stringify(body))
  return `${path}/${name}`
}

const create = (admin: RawCalls, name: string, query = ''): Promise<RawAnswer> =>
  admin.call('POST', `${maps}?named=${name}${query}`, {
    metadata: { name, labels: { name } },
    data: { secret: hidden, a: '1' },
  })

test('webhooks through the real port: every response and failure, under both policies, is audited', async () => {
  await using server = await startAudited()
  const { admin } = server
  await using hooks = await webhookServer((asked) => {
    const name = /^\/([\w-]+)/.exec(asked.path)?.[1] ?? ''
    return failures[name]?.handle(asked) ?? answers[name]?.(asked) ?? {}
  })
  const answers: Record<string, Handle> = {
    deny: () => ({
      allowed: false,
      status: { code: 418, message: 'not in my kitchen' },
      warnings: ['a warning'],
      auditAnnotations: { why: 'taste' },
    }),
    // As in upstream, the content type of a response does not matter.
    html: ({ request }) => wire(200, 'text/html; charset=utf-8', allowedReview(request.uid)),
    misfit: () => patchWith({ op: 'remove', path: '/nowhere' }),
    label: () => ({ ...patchWith({ op: 'add', path: '/metadata/labels/seen', value: 'yes' }), warnings: ['labelled'] }),
  }
  const hook = (path: string, name: string, more: object = {}) => {
    const { caBundle = hooks.caBundle, ...rest } = more as { caBundle?: string }
    return webhook(hooks, {
      clientConfig: { url: `${hooks.url}/${path}`, caBundle },
      objectSelector: { matchLabels: { name } },
      timeoutSeconds: 30,
      ...rest,
    })
  }
  const stagesOf = async (name: string) =>
    (await server.linesOf(`named=${name}`)).map(({ stage, responseStatus }) => [stage, responseStatus?.code])

  for (const [why, { more = {}, expected }] of Object.entries(failures))
    for (const kind of ['mutating', 'validating']) {
      const strict = `${why}-${kind}`
      const first = await configure(admin, kind, strict, [hook(why, strict, more)])
      const { status, body } = await create(admin, strict)
      equal(status, 500, JSON.stringify(body))
      const start = 'Internal error occurred: failed calling webhook "w.example.com": '
      equal(body.message.slice(0, start.length), start)
      const detail = body.message.slice(start.length)
      if (typeof expected === 'string') equal(detail, expected.replace('URL', hooks.url))
      else match(detail, expected)
      deepEqual([body.reason, body.details.causes], ['InternalError', [{ message: body.message.slice(25) }]])
      const lines = await server.linesOf(`named=${strict}`)
      deepEqual(await stagesOf(strict), [
        ['RequestReceived', undefined],
        ['ResponseComplete', 500],
      ])
      equal(lines[1]?.responseStatus?.message, body.message)
      await admin.call('DELETE', first)

      const lenient = `${strict}-ignored`
      const second = await configure(admin, kind, lenient, [hook(why, lenient, { ...more, failurePolicy: 'Ignore' })])
      equal((await create(admin, lenient)).status, 201)
      const [, done] = await server.linesOf(`named=${lenient}`)
      const phase = kind === 'mutating' ? 'mutation' : 'validating'
      equal(done?.annotations?.[`failed-open.${phase}.webhook.admission.k8s.io/round_0_index_0`], 'w.example.com')
      await admin.call('DELETE', second)
    }

  await configure(admin, 'validating', 'html', [hook('html', 'html')])
  equal((await create(admin, 'html')).status, 201)

  await configure(admin, 'validating', 'deny', [hook('deny', 'denied')])
  const denied = await create(admin, 'denied')
  deepEqual(
    [denied.status, denied.body.message],
    [418, 'admission webhook "w.example.com" denied the request: not in my kitchen'],
  )
  const [, denial] = await server.linesOf('named=denied')
  deepEqual(
    [denial?.responseStatus?.code, denial?.responseStatus?.message, denial?.annotations?.['w.example.com/why']],
    [418, denied.body.message, 'taste'],
  )

  await configure(admin, 'mutating', 'misfit', [hook('misfit', 'misfit')])
  const misfit = await create(admin, 'misfit')
  equal(misfit.status, 500)
  match(misfit.body.message, /^Internal error occurred: /)
  deepEqual(await stagesOf('misfit'), [
    ['RequestReceived', undefined],
    ['ResponseComplete', 500],
  ])

  await configure(admin, 'mutating', 'label', [hook('label', 'labelled')])
  const labelled = await create(admin, 'labelled')
  deepEqual([labelled.status, labelled.body.metadata.labels.seen], [201, 'yes'])
  equal(labelled.headers['warning'], '299 - "labelled"')
  const [, marked] = await server.linesOf('named=labelled')
  deepEqual(
    Object.entries(marked?.annotations ?? {}).filter(([key]) => key.includes('webhook')),
    [
      [
        'mutation.webhook.admission.k8s.io/round_0_index_0',
        '{"configuration":"label","webhook":"w.example.com","mutated":true}',
      ],
    ],
    'no patch where the record has no objects',
  )

  await configure(admin, 'validating', 'effects', [hook('label', 'effects', { sideEffects: 'NoneOnDryRun' })])
  const asked = hooks.asked.length
  equal((await create(admin, 'effects', '&dryRun=All')).status, 500, 'a patch is no answer of a validating webhook')
  equal(hooks.asked[asked]?.request.dryRun, true)
  const flow = await admin.call('GET', flowEventsPath)
  equal(flow.status, 200)
  const records = { audit: await server.wholeRecord(), flow: JSON.stringify(flow.body), log: server.logged() }
  ok(records.flow.includes('Webhook/w.example.com') && records.log.includes('a request failed'))
  for (const [where, text] of Object.entries(records))
    ok(!text.includes(hidden), `nothing that an object holds: ${where}`)
})

test('requests that end before the store have a status, a message and audit lines', async () => {
  await using server = await startAudited()
  const { admin } = server
  await using anonymous = rawCalls(server.kubeconfig, 'anonymous')
  const make = async (path: string, object: object) => {
    const { status, body } = await admin.call('POST', path, object)
    equal(status, 201, JSON.stringify(body))
  }
  await make('/api/v1/namespaces', {
    metadata: { name: 'strict', labels: { 'pod-security.kubernetes.io/enforce': 'baseline' } },
  })
  await make('/api/v1/namespaces/strict/serviceaccounts', { metadata: { name: 'own' } })
  const as = { 'impersonate-user': 'jane' }
  const pod = (spec: object) => ({
    metadata: { name: 'p' },
    spec: { serviceAccountName: 'own', containers: [{ name: 'c', image: 'i' }], ...spec },
  })
  const pods = '/api/v1/namespaces/strict/pods'
  const refused = 'is forbidden: User "jane" cannot'
  const rows: [why: string, answer: Promise<RawAnswer>, code: number, message: string][] = [
    [
      'unauthenticated',
      anonymous.call('GET', `${maps}?named=unauthenticated`, undefined, { authorization: 'Bearer x' }),
      401,
      'Unauthorized',
    ],
    [
      'forbidden',
      admin.call('GET', `${maps}?named=forbidden`, undefined, as),
      403,
      `configmaps ${refused} list resource "configmaps" in API group "" in the namespace "default"`,
    ],
    [
      'unserved',
      admin.call('GET', '/apis/apps/v1/things?named=unserved'),
      404,
      'the server could not find the requested resource',
    ],
    [
      'foreign-unserved',
      admin.call('GET', '/apis/example.com/v1/things?named=foreign-unserved', undefined, as),
      403,
      `things.example.com ${refused} list resource "things" in API group "example.com" at the cluster scope`,
    ],
    [
      'malformed',
      admin.call('POST', `${maps}?named=malformed`, '{"metadata":'),
      400,
      'the object provided is unrecognized (must be of type JSON)',
    ],
    [
      'unacceptable',
      admin.call('GET', `${maps}?named=unacceptable`, undefined, { accept: 'image/png' }),
      406,
      '406: Not Acceptable',
    ],
    [
      'invalid',
      admin.call('POST', `${maps}?named=invalid`, { metadata: { name: 'Not A Name' }, data: { 'no key!': '' } }),
      422,
      'ConfigMap "Not A Name" is invalid: [metadata.name: Invalid value: "Not A Name"',
    ],
    [
      'plugin',
      admin.call('POST', `${pods}?named=plugin`, pod({ hostNetwork: true })),
      403,
      'pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)',
    ],
    [
      'missing',
      admin.call('POST', '/api/v1/namespaces/gone/configmaps?named=missing', { metadata: { name: 'm' } }),
      404,
      'namespaces "gone" not found',
    ],
  ]
  for (const [why, answer, code, message] of rows) {
    const { status, body } = await answer
    equal(status, code, `${why}: ${JSON.stringify(body)}`)
    ok(String(body.message).includes(message), `${why}: ${body.message}`)
    const lines = await server.linesOf(`named=${why}`)
    const stages = lines.map(({ stage, responseStatus }) => [stage, responseStatus?.code])
    deepEqual(
      stages,
      code === 401
        ? [['ResponseStarted', 401]]
        : [
            ['RequestReceived', undefined],
            ['ResponseComplete', code],
          ],
      why,
    )
  }
})

test('of 50 concurrent creates against a quota of 10 exactly 10 succeed, again after deletes; used is exact', async () => {
  await using up = await startUp('--runtime', 'none')
  await using admin = rawCalls(await readFile(up.kubeconfig, 'utf8'))
  const secrets = '/api/v1/namespaces/small/secrets'
  const quotas = '/api/v1/namespaces/small/resourcequotas'
  await admin.call('POST', '/api/v1/namespaces', { metadata: { name: 'small' } })
  await admin.call('POST', quotas, { metadata: { name: 'q' }, spec: { hard: { secrets: '10' } } })
  const used = async () => (await admin.call('GET', `${quotas}/q`)).body.status.used?.secrets
  await until(async () => (await used()) === '0')
  const crowd = async (round: string) => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        admin.call('POST', secrets, { metadata: { name: `${round}-${index}` }, stringData: { password: hidden } }),
      ),
    )
    for (const { status, body } of answers.filter((each) => each.status !== 201)) {
      equal(status, 403)
      match(body.message, /exceeded quota: q, requested: secrets=1, used: secrets=10, limited: secrets=10$/)
    }
    return answers.filter(({ status }) => status === 201).map(({ body }) => body.metadata.name)
  }
  const made = await crowd('first')
  deepEqual([made.length, await used()], [10, '10'])
  await Promise.all(made.slice(0, 4).map((name: string) => admin.call('DELETE', `${secrets}/${name}`)))
  await until(async () => (await used()) === '6')
  deepEqual([(await crowd('second')).length, await used()], [4, '10'])
  equal((await admin.call('GET', secrets)).body.items.length, 10)
})
