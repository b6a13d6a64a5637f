// Tables for APIService.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { cellsOf, objectFrom, testInvalidObjects } from '../../kind/kind.harness.ts'
import { apiService } from './api-service.ts'

const metadata = { name: 'v1.example.com', creationTimestamp: '2030-01-01T00:00:00Z' }
const spec = { group: 'example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 10 }
const service = { namespace: 'default', name: 'api' }

testInvalidObjects(apiService, [
  ['valid', { metadata, spec }, []],
  ['a valid Service', { metadata, spec: { ...spec, service, insecureSkipTLSVerify: true } }, []],
  [
    'another name',
    { metadata: { name: 'x' }, spec },
    ['metadata.name: Invalid value: "x": must be `spec.version+"."+spec.group`: "v1.example.com"'],
  ],
  [
    'no group',
    { metadata: { name: 'v2.' }, spec: { ...spec, group: '', version: 'v2' } },
    ['spec.group: Required value: only v1 may have an empty group and it better be legacy kube'],
  ],
  [
    'priorities out of bounds',
    { metadata, spec: { ...spec, groupPriorityMinimum: 0, versionPriority: 1001 } },
    [
      'spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000',
      'spec.versionPriority: Invalid value: 1001: must be positive and less than 1000',
    ],
  ],
  [
    'certificates for itself',
    { metadata, spec: { ...spec, caBundle: 'eA==', insecureSkipTLSVerify: true } },
    [
      'spec.caBundle: Invalid value: "1 bytes": local APIServices may not have a caBundle',
      'spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify',
    ],
  ],
  [
    'a Service without a name, at no port',
    { metadata, spec: { ...spec, service: { port: 0 } } },
    [
      'spec.service.namespace: Required value',
      'spec.service.name: Required value',
      'spec.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive',
    ],
  ],
])

test('a local version is available at once; that of a Service has no condition yet', () => {
  const local = objectFrom(apiService, { metadata, spec })
  const status = apiService.initialStatus?.(local)
  deepEqual(cellsOf(apiService, { metadata, spec, status: status as object }).slice(0, 3), [
    'v1.example.com',
    'Local',
    'True',
  ])
  deepEqual(cellsOf(apiService, { metadata, spec: { ...spec, service } }).slice(1, 3), ['default/api', 'Unknown'])
  const missing = { conditions: [{ type: 'Available', status: 'False', reason: 'ServiceNotFound' }] }
  deepEqual(
    cellsOf(apiService, { metadata, spec: { ...spec, service }, status: missing })[2],
    'False (ServiceNotFound)',
  )
})
