// Tables for CertificateSigningRequest.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { cellsOf, objectFrom, testInvalidObjects } from '../../kind/kind.harness.ts'
import { certificateSigningRequest } from './certificate-signing-request.ts'

const pem = (type: string): string => btoa(`-----BEGIN ${type}-----\nMAA=\n-----END ${type}-----\n`)
const request = { request: pem('CERTIFICATE REQUEST'), usages: ['client auth'], signerName: 'example.com/signer' }
const asked = (change: object, status: object = {}): object => ({ spec: { ...request, ...change }, status })
const noRequest = 'PEM block type must be CERTIFICATE REQUEST'

testInvalidObjects(certificateSigningRequest, [
  ['a request', asked({}), []],
  [
    'a request without PEM and usages',
    { spec: { request: 'eA==', signerName: 'x.y/z' } },
    [`spec.request: Invalid value: "eA==": ${noRequest}`, 'spec.usages: Required value'],
  ],
  [
    'another PEM block',
    asked({ request: pem('CERTIFICATE') }),
    [`spec.request: Invalid value: "${pem('CERTIFICATE')}": ${noRequest}`],
  ],
  [
    'duplicate and unknown usages',
    asked({ usages: ['any', 'any', 'x'] }),
    [
      /^spec\.usages\[2\]: Unsupported value: "x": supported values: "any", "cert sign", .*"timestamping"$/,
      'spec.usages[1]: Duplicate value: "any"',
    ],
  ],
  [
    'a lifetime below ten minutes',
    asked({ expirationSeconds: 599 }),
    [/^spec\.expirationSeconds: Invalid value: 599: may/],
  ],
  ['a certificate for ten minutes', asked({ expirationSeconds: 600 }), []],
  ['no signer', asked({ signerName: '' }), ['spec.signerName: Required value']],
  [
    'a signer without a domain',
    asked({ signerName: 'me' }),
    [
      `spec.signerName: Invalid value: "me": must be a fully qualified domain and path of the form 'example.com/signer-name'`,
    ],
  ],
  [
    'a signer with one domain segment and an invalid path',
    asked({ signerName: 'example/Bad' }),
    [
      'spec.signerName: Invalid value: "example": should be a domain with at least two segments separated by dots',
      /^spec\.signerName: Invalid value: "Bad": validating label "Bad": a lowercase RFC 1123 subdomain/,
    ],
  ],
  [
    'the legacy signer',
    asked({ signerName: 'kubernetes.io/legacy-unknown' }),
    [
      'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version',
    ],
  ],
  [
    'approved and denied, with the status False',
    asked({}, { conditions: [condition('Approved'), { type: 'Denied', status: 'False' }, { type: '', status: '' }] }),
    [
      'status.conditions[1].status: Unsupported value: "False": supported values: "True"',
      'status.conditions[1].type: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
      'status.conditions[2].type: Required value',
      'status.conditions[2].status: Required value',
    ],
  ],
])

function condition(type: string): object {
  return { type, status: 'True' }
}

test('a request may have any name', () => {
  deepEqual(certificateSigningRequest.validateName('node-csr-A_b:c'), [])
})

test('the columns of a request show its progress', () => {
  const table: [object, string][] = [
    [{}, 'Pending'],
    [{ conditions: [condition('Approved')] }, 'Approved'],
    [{ conditions: [condition('Approved')], certificate: 'eA==' }, 'Approved,Issued'],
    [{ conditions: [condition('Approved'), condition('Failed')] }, 'Approved,Failed'],
    [{ conditions: [condition('Denied')] }, 'Denied'],
  ]
  for (const [status, text] of table) equal(cellsOf(certificateSigningRequest, asked({}, status)).at(-1), text)
  deepEqual(cellsOf(certificateSigningRequest, asked({ username: 'me', expirationSeconds: 3600 })), [
    'x',
    '60s',
    'example.com/signer',
    'me',
    '60m',
    'Pending',
  ])
  equal(cellsOf(certificateSigningRequest, asked({}))[4], '<none>')
})

test('requests are found by their signer', () => {
  const object = objectFrom(certificateSigningRequest, asked({}))
  equal(certificateSigningRequest.fieldLabels['spec.signerName']?.(object), 'example.com/signer')
})
