// Tables for what kinds share: names, selectors, quantities, ages, counts, metadata, errors.
import { deepEqual, doesNotThrow, equal, match, throws } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fieldErrorText } from '../schema/validation/field-error.ts'
import { ageText, humanDuration } from './columns/age.ts'
import { resolveCount, validateCountOrPercent } from './validation/count-or-percent.ts'
import { configMap } from './core/v1/config-map.ts'
import { foregroundFinalizer, orphanFinalizer } from './meta/deletion-finalizers.ts'
import { flowEventsPath, senderPrefix, wokenByHeader } from './coxswain/v1/flow-protocol.ts'
import { namespace } from './core/v1/namespace.ts'
import { qualifiedResource } from './kind/kind.ts'
import { validateLabelSelector } from './validation/label-selector-rules.ts'
import { validateMetadata, validateMetadataUpdate } from './validation/metadata-rules.ts'
import { parseFieldSelector } from './selectors/field-selector-text.ts'
import { parseLabelSelector } from './selectors/label-selector-text.ts'
import {
  dns1035LabelErrors,
  dnsLabelErrors,
  dnsSubdomainErrors,
  labelValueErrors,
  pathSegmentErrors,
  qualifiedNameErrors,
} from './validation/names.ts'
import { cidrErrors, ipErrors, portErrors, portNameErrors } from './validation/network-rules.ts'
import {
  controllerOf,
  controllerReference,
  isBeingDeleted,
  keyOf,
  namespaceOf,
  objectKey,
  revisionOf,
  splitKey,
  type ApiObject,
} from './meta/object.ts'
import { matchesFields, matchesLabels, selects, selectorText } from './selectors/selectors.ts'
import {
  alreadyExists,
  badRequest,
  conflict,
  expired,
  forbidden,
  hasReason,
  invalidObject,
  methodNotAllowed,
  modifiedConflict,
  notFound,
  pathNotFound,
  StatusError,
  tooOldResourceVersion,
  unauthorized,
} from './errors/status-error.ts'

const object = (metadata: object): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'default', ...metadata } as ApiObject['metadata'],
})

test("names: which are valid, and upstream's messages for others", () => {
  for (const name of ['a', 'a-b', '1', 'x'.repeat(63)]) deepEqual(dnsLabelErrors(name), [])
  for (const name of ['a.b', 'a-1.b']) deepEqual(dnsSubdomainErrors(name), [])
  for (const name of ['', '-a', 'a-', 'A', 'a_b', 'a.b']) equal(dnsLabelErrors(name).length, 1, name)
  equal(dnsLabelErrors('x'.repeat(64))[0], 'must be no more than 63 characters')
  match(
    dnsSubdomainErrors('Bad Name')[0] ?? '',
    /^a lowercase RFC 1123 subdomain must consist of .* \(e\.g\. 'example\.com', regex used for validation is '/,
  )
  for (const name of ['a', 'A_b.c', 'example.com/Name']) deepEqual(qualifiedNameErrors(name), [])
  deepEqual(qualifiedNameErrors('/a'), ['prefix part must be non-empty'])
  match(qualifiedNameErrors('a/b/c')[0] ?? '', /with an optional DNS subdomain prefix/)
  equal(qualifiedNameErrors('').length, 2)
  for (const value of ['', 'a', 'A.b_c-d']) deepEqual(labelValueErrors(value), [])
  match(labelValueErrors('Bad Value!')[0] ?? '', /^a valid label must be an empty string or consist of/)
})

const labels = { app: 'web', tier: 'front', size: '12' }
const selectors: [text: string, matches: boolean][] = [
  ['app=web', true],
  ['app==web,tier=front', true],
  ['app=api', false],
  ['app!=api', true],
  ['none!=x', true],
  ['app', true],
  ['!app', false],
  ['!none', true],
  ['app in (web, api)', true],
  ['app notin (web,api)', false],
  ['tier in (back),app', false],
  ['none notin (x)', true],
  ['size>5', true],
  ['size<5', false],
  ['app>5', false],
  ['none<5', false],
  ['constructor', false],
  ['!constructor', true],
  ['toString=x', false],
  ['app in (a,b,c,d,e,f,g,h,web)', true],
  ['app notin (a,b,c,d,e,f,g,h,i)', true],
]
for (const [text, matches] of selectors)
  test(`label selector ${text}`, () => equal(matchesLabels(parseLabelSelector(text), labels), matches))

/** Responses of kube-apiserver v1.36 to lists of pods with these selectors. */
interface SelectorFact {
  readonly kind: 'label' | 'field'
  readonly text: string
  /** Absent where the selector is accepted. */
  readonly message?: string
}
const selectorFacts = new URL('../../test/facts/selectors.json', import.meta.url)

test("broken selectors are rejected with upstream's messages", () => {
  const facts = JSON.parse(readFileSync(selectorFacts, 'utf8')) as SelectorFact[]
  for (const { kind, text, message } of facts) {
    const parse = kind === 'label' ? parseLabelSelector : parseFieldSelector
    // Whether a field may be selected depends on the kind.
    if (message === undefined || message.startsWith('field label not supported')) doesNotThrow(() => parse(text), text)
    else throws(() => parse(text), { message, code: 400 }, text)
  }
})

/** A backtracking pattern does not finish within the time limit of a test. */
const n = 300_000

test('the time for long selectors is linear in their length', () => {
  const texts = ['a'.repeat(n), ' '.repeat(n), `a${' '.repeat(n)}!`, `a in (${'b,'.repeat(n)}`, 'a,'.repeat(n)]
  for (const text of [...texts, '='.repeat(n), '!'.repeat(n), '\\'.repeat(n)])
    for (const parse of [parseLabelSelector, parseFieldSelector])
      for (const sent of [text, `metadata.name=${text}`])
        try {
          parse(sent)
        } catch (error) {
          equal((error as { code?: number }).code, 400)
        }
})

test('field selectors', () => {
  const valueOf = (key: string) => (key === 'metadata.name' ? 'web' : '')
  equal(matchesFields(parseFieldSelector('metadata.name=web,spec.nodeName='), valueOf), true)
  equal(matchesFields(parseFieldSelector('metadata.name!=web'), valueOf), false)
})

test('label selectors of specs', () => {
  equal(selects(undefined, labels), false)
  equal(selects({}, labels), true)
  const selector = {
    matchLabels: { app: 'web' },
    matchExpressions: [
      { key: 'tier', operator: 'In', values: ['back', 'front'] },
      { key: 'x', operator: 'DoesNotExist' },
    ],
  }
  equal(selects(selector, labels), true)
  equal(selectorText(selector), 'app=web,tier in (back,front),!x')
  equal(
    selectorText({
      matchExpressions: [
        { key: 'a', operator: 'Exists' },
        { key: 'b', operator: 'NotIn', values: ['c'] },
      ],
    }),
    'a,b notin (c)',
  )
  equal(selectorText(undefined), '<none>')
})

const ages: [seconds: number, text: string][] = [
  [0, '0s'],
  [119, '119s'],
  [120, '2m'],
  [200, '3m20s'],
  [600, '10m'],
  [10_799, '179m'],
  [10_800, '3h'],
  [12_000, '3h20m'],
  [28_800, '8h'],
  [172_799, '47h'],
  [172_800, '2d'],
  [180_000, '2d2h'],
  [691_200, '8d'],
  [63_072_000, '2y'],
  [64_000_000, '2y10d'],
  [-1, '0s'],
  [-5, '<invalid>'],
]
for (const [seconds, text] of ages)
  test(`an age of ${seconds} s is ${text}`, () => equal(humanDuration(seconds * 1000), text))

test('an age without a start is unknown', () => {
  equal(ageText(undefined, 0), '<unknown>')
  equal(ageText('2030-01-01T00:00:00Z', Date.UTC(2030, 0, 1, 0, 1)), '60s')
})

test('counts and percentages', () => {
  deepEqual(
    [
      resolveCount('25%', 3, 'up'),
      resolveCount('25%', 3, 'down'),
      resolveCount(2, 10, 'up'),
      resolveCount('100%', 4, 'down'),
    ],
    [1, 0, 2, 4],
  )
  deepEqual([...validateCountOrPercent('10%', 'f'), ...validateCountOrPercent(0, 'f')], [])
  match(validateCountOrPercent('x', 'f').map(fieldErrorText).join(), /^f: Invalid value: "x": a valid percent string/)
  equal(validateCountOrPercent(-1, 'f').length, 1)
})

test('metadata: rules of all objects', () => {
  const texts = (metadata: object, kind = configMap) => validateMetadata(object(metadata), kind).map(fieldErrorText)
  deepEqual(texts({}), [])
  deepEqual(texts({ name: '' }), ['metadata.name: Required value: name or generateName is required'])
  deepEqual(texts({ namespace: undefined }), ['metadata.namespace: Required value'])
  deepEqual(validateMetadata(object({}), namespace).map(fieldErrorText), [
    'metadata.namespace: Forbidden: not allowed on this type',
  ])
  match(texts({ labels: { a: 'Bad Value!' } })[0] ?? '', /^metadata\.labels: Invalid value: "Bad Value!"/)
  match(texts({ annotations: { big: 'x'.repeat(300_000) } })[0] ?? '', /^metadata\.annotations: Too long/)
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '1', controller: true }
  match(
    texts({ ownerReferences: [owner, { ...owner, uid: '2' }] })[0] ?? '',
    /Only one reference can have Controller set to true/,
  )
  match(
    texts({ ownerReferences: [{ ...owner, uid: '' }] })[0] ?? '',
    /^metadata\.ownerReferences\.uid: .*: must not be empty$/,
  )
})

test('metadata: what an update may not change', () => {
  const old = object({ uid: '1', deletionTimestamp: 'x', finalizers: ['a'] })
  deepEqual(validateMetadataUpdate(old, old), [])
  const texts = (metadata: object) =>
    validateMetadataUpdate(object({ uid: '1', deletionTimestamp: 'x', finalizers: ['a'], ...metadata }), old).map(
      fieldErrorText,
    )
  deepEqual(texts({ uid: '2' }), ['metadata.uid: Invalid value: "2": field is immutable'])
  deepEqual(texts({ finalizers: [] }), [])
  match(
    texts({ finalizers: ['a', 'b'] })[0] ?? '',
    /no new finalizers can be added if the object is being deleted, found new finalizers \[\]string\{"b"\}/,
  )
})

test('objects: keys and owners', () => {
  const owner = object({ uid: 'u', resourceVersion: '12' })
  equal(keyOf(owner), 'default/a')
  deepEqual([objectKey('', 'n'), objectKey('ns', 'n')], ['n', 'ns/n'])
  deepEqual(
    [splitKey('ns/n'), splitKey('n')],
    [
      { namespace: 'ns', name: 'n' },
      { namespace: '', name: 'n' },
    ],
  )
  equal(revisionOf(owner), 12)
  equal(namespaceOf(owner), 'default')
  equal(isBeingDeleted(owner), false)
  equal(controllerOf(object({ ownerReferences: [controllerReference(owner)] }))?.uid, 'u')
})

const errors: [error: StatusError, code: number, reason: string, text: string][] = [
  [notFound({ group: 'apps', plural: 'deployments' }, 'web'), 404, 'NotFound', 'deployments.apps "web" not found'],
  [alreadyExists({ group: '', plural: 'pods' }, 'p'), 409, 'AlreadyExists', 'pods "p" already exists'],
  [
    modifiedConflict({ group: '', plural: 'pods' }, 'p'),
    409,
    'Conflict',
    'Operation cannot be fulfilled on pods "p": the object has been modified; please apply your changes to the latest version and try again',
  ],
  [conflict({ group: '', plural: 'pods' }, 'p', 'x'), 409, 'Conflict', 'Operation cannot be fulfilled on pods "p": x'],
  [badRequest('x'), 400, 'BadRequest', 'x'],
  [forbidden({ group: '', plural: 'pods' }, '', 'no'), 403, 'Forbidden', 'pods is forbidden: no'],
  [unauthorized(), 401, 'Unauthorized', 'Unauthorized'],
  [methodNotAllowed(), 405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource'],
  [expired('x'), 410, 'Expired', 'x'],
  [tooOldResourceVersion(1, 5), 410, 'Expired', 'too old resource version: 1 (5)'],
  [pathNotFound(), 404, 'NotFound', 'the server could not find the requested resource'],
]
for (const [error, code, reason, text] of errors)
  test(`error ${code} ${reason}: ${text}`, () => {
    deepEqual([error.code, error.reason, error.message], [code, reason, text])
    equal(hasReason(error, error.reason), true)
    const { status, message } = error.toStatus()
    deepEqual([status, message], ['Failure', text])
    equal(StatusError.fromStatus(error.toStatus() as never, 500).message, text)
  })

test('errors of invalid objects name all fields', () => {
  const one = { reason: 'FieldValueRequired', field: 'spec.a', message: 'Required value' } as const
  equal(
    invalidObject('apps', 'Deployment', 'web', [one]).message,
    'Deployment.apps "web" is invalid: spec.a: Required value',
  )
  equal(
    invalidObject('', 'Pod', 'p', [one, { ...one, field: 'spec.b' }, one]).message,
    'Pod "p" is invalid: [spec.a: Required value, spec.b: Required value]',
  )
  equal(qualifiedResource({ plural: 'pods', group: '' }), 'pods')
})

test('ports and addresses', () => {
  deepEqual(
    [0, 1, 65_535, 65_536, 1.5].map((port) => portErrors(port).length),
    [1, 0, 0, 1, 1],
  )
  deepEqual(
    ['http', 'a1-b', '', '-a', 'a--b', 'UPPER', '123', 'x'.repeat(16)].map((name) => portNameErrors(name).length),
    [0, 0, 2, 1, 1, 2, 1, 1],
  )
  for (const address of ['1.2.3.4', '::', '::1', 'fd00::1:2', '1:2:3:4:5:6:7:8'])
    deepEqual(ipErrors(address), [], address)
  for (const address of [
    '',
    '1.2.3',
    '1.2.3.256',
    '01.2.3.4',
    '::ffff:1.2.3.4',
    '0:0:0:0:0:FFFF:102:304',
    '1:2',
    ':::',
    '1:2:3:4:5:6:7:8:9',
    'x::1',
    '1::2::3',
    '::1.2.3',
  ])
    equal(ipErrors(address).length, 1, address)
  deepEqual(
    ['10.0.0.0/8', 'fd00::/64', '10.0.0.0/33', '10.0.0.0', '10.0.0.0/8/8', 'x/8'].map(
      (text) => cidrErrors(text, new Set()).length,
    ),
    [0, 0, 1, 1, 1, 1],
  )
  deepEqual([dns1035LabelErrors('a-1').length, dns1035LabelErrors('1a').length], [0, 1])
  deepEqual(
    [pathSegmentErrors('system:a.b'), pathSegmentErrors('a/b%c'), pathSegmentErrors('..')],
    [[], ["may not contain '/'", "may not contain '%'"], ["may not be '..'"]],
  )
  deepEqual(
    validateLabelSelector({ matchLabels: { a: 'b' }, matchExpressions: [{ key: 'k', operator: 'Wat' }] }, 's').map(
      fieldErrorText,
    ),
    ['s.matchExpressions[0].operator: Invalid value: "Wat": not a valid selector operator'],
  )
})

test('names that other programs depend on do not change', () => {
  deepEqual([foregroundFinalizer, orphanFinalizer], ['foregroundDeletion', 'orphan'])
  deepEqual(
    [wokenByHeader, senderPrefix, flowEventsPath],
    ['coxswain-woken-by', 'coxswain:', '/coxswain/v1/flow-events'],
  )
})
