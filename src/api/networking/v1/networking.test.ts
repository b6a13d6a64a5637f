// Tables for Ingress, IngressClass, IPAddress, NetworkPolicy and ServiceCIDR.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { cellsOf, objectFrom, testInvalidObjects, updateErrorsOf, type InvalidCase } from '../../kind/kind.harness.ts'
import { ingressClass } from './ingress-class.ts'
import { ingress } from './ingress.ts'
import { ipAddress } from './ip-address.ts'
import { networkPolicy } from './network-policy.ts'
import { serviceCidr } from './service-cidr.ts'

const backend = { service: { name: 'web', port: { number: 80 } } }
const path = { path: '/', pathType: 'Prefix', backend }
const routing = (changes: object, host?: string) => ({
  spec: { rules: [{ ...(host === undefined ? {} : { host }), http: { paths: [{ ...path, ...changes }] } }] },
})
const at = 'spec.rules[0].http.paths[0]'

testInvalidObjects(ingress, [
  ['valid', routing({}, '*.example.com'), []],
  ['a default backend alone', { spec: { defaultBackend: backend } }, []],
  ['no backend and no rules', {}, ['spec: Invalid value: null: either `defaultBackend` or `rules` must be specified']],
  ['no paths', { spec: { rules: [{ http: {} }] } }, ['spec.rules[0].http.paths: Required value']],
  [
    'no type of path',
    { spec: { rules: [{ http: { paths: [{}] } }] } },
    [`${at}.pathType: Required value: pathType must be specified`],
  ],
  [
    'an empty type of path',
    routing({ pathType: '' }),
    [`${at}.pathType: Unsupported value: "": supported values: "Exact", "ImplementationSpecific", "Prefix"`],
  ],
  ['a relative path', routing({ path: '' }), [`${at}.path: Invalid value: "": must be an absolute path`]],
  ['no path where the controller decides', routing({ path: '', pathType: 'ImplementationSpecific' }), []],
  [
    'a path with dot segments',
    routing({ path: '/a//b/..' }),
    [
      `${at}.path: Invalid value: "/a//b/..": must not contain '//'`,
      `${at}.path: Invalid value: "/a//b/..": cannot end with '/..'`,
    ],
  ],
  [
    'an address for a host',
    routing({}, '10.0.0.1'),
    ['spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address'],
  ],
  [
    'a wildcard in the middle',
    routing({}, 'a.*.com'),
    [/^spec\.rules\[0\]\.host: Invalid value: "a\.\*\.com": a wildcard DNS-1123/],
  ],
  [
    'a service without name and port',
    routing({ backend: { service: {} } }),
    [`${at}.backend.service.name: Required value`, `${at}.backend: Required value: port name or number is required`],
  ],
  [
    'a port with name and number',
    routing({ backend: { service: { name: 'web', port: { name: 'http', number: 80 } } } }),
    [`${at}.backend: Invalid value: "": cannot set both port name & port number`],
  ],
  [
    'no backend',
    routing({ backend: {} }),
    [`${at}.backend: Invalid value: "": resource or service backend is required`],
  ],
  [
    'a resource without name',
    routing({ backend: { resource: { kind: 'Bucket', apiGroup: 'example.com' } } }),
    [`${at}.backend.resource.name: Required value`],
  ],
  [
    'two classes',
    {
      metadata: { name: 'x', annotations: { 'kubernetes.io/ingress.class': 'a' } },
      spec: { ingressClassName: 'b', defaultBackend: backend },
    },
    [
      'annotations.kubernetes.io/ingress.class: Invalid value: "a": must match `ingressClassName` when both are specified',
    ],
  ],
])

const policy = (rule: object) => ({ spec: { ingress: [rule] } })
const policyInvalidCases: readonly InvalidCase[] = [
  ['valid', policy({ ports: [{ port: 80, endPort: 90 }, { port: 'http' }, {}] }), []],
  [
    'an IP block with exceptions',
    policy({ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16', '10.1.0.0/16'] } }] }),
    [],
  ],
  [
    'an exception outside the block and one of its size',
    policy({ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/16', '10.0.0.0/8'] } }] }),
    [
      'spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "11.0.0.0/16": must be a strict subset of `cidr`',
      'spec.ingress[0].from[0].ipBlock.except[1]: Invalid value: "10.0.0.0/8": must be a strict subset of `cidr`',
    ],
  ],
  ['an empty peer', policy({ from: [{}] }), ['spec.ingress[0].from[0]: Required value: must specify a peer']],
  [
    'a peer with pods and an IP block',
    policy({ from: [{ podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }] }),
    ['spec.ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer'],
  ],
  ['no block', policy({ from: [{ ipBlock: {} }] }), ['spec.ingress[0].from[0].ipBlock.cidr: Required value']],
  [
    'ports in the wrong order',
    policy({ ports: [{ port: 90, endPort: 80 }] }),
    ['spec.ingress[0].ports[0].endPort: Invalid value: 90: must be greater than or equal to `port`'],
  ],
  [
    'an endPort without a numeric port',
    policy({ ports: [{ port: 'http', endPort: 80 }, { endPort: 80 }] }),
    [
      'spec.ingress[0].ports[0].endPort: Invalid value: 80: may not be specified when `port` is non-numeric',
      'spec.ingress[0].ports[1].endPort: Invalid value: 80: may not be specified when `port` is not specified',
    ],
  ],
  [
    'a protocol that does not exist',
    policy({ ports: [{ protocol: 'QUIC' }] }),
    ['spec.ingress[0].ports[0].protocol: Unsupported value: "QUIC": supported values: "TCP", "UDP", "SCTP"'],
  ],
  [
    'a direction that does not exist',
    { spec: { policyTypes: ['Ingress', 'Sideways'] } },
    ['spec.policyTypes[1]: Unsupported value: "Sideways": supported values: "Ingress", "Egress"'],
  ],
]
testInvalidObjects(networkPolicy, policyInvalidCases)

test('the policy types of a NetworkPolicy default to ingress and the directions with rules', () => {
  const types = (spec: object) => objectFrom(networkPolicy, { spec }).spec.policyTypes
  deepEqual(
    [types({}), types({ egress: [{}] }), types({ policyTypes: ['Egress'] })],
    [['Ingress'], ['Ingress', 'Egress'], ['Egress']],
  )
})

const classOf = (parameters: object) => ({ spec: { controller: 'example.com/nginx', parameters } })

testInvalidObjects(ingressClass, [
  ['valid', classOf({ kind: 'Parameters', name: 'p', apiGroup: 'example.com' }), []],
  ['no controller', {}, ['spec.controller: Required value']],
  [
    'a controller without domain',
    { spec: { controller: 'nginx' } },
    ['spec.controller: Invalid value: "nginx": must be a domain-prefixed path (such as "acme.io/foo")'],
  ],
  [
    'a namespace for cluster scope',
    classOf({ kind: 'P', name: 'p', namespace: 'n' }),
    ["spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"],
  ],
  [
    'no namespace where one is needed',
    classOf({ kind: 'P', name: 'p', scope: 'Namespace' }),
    ["spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"],
  ],
  [
    'a scope that does not exist',
    classOf({ kind: 'P', name: 'p', scope: 'Galaxy' }),
    ['spec.parameters.scope: Unsupported value: "Galaxy": supported values: "Cluster", "Namespace"'],
  ],
])

const parentRef = { resource: 'services', namespace: 'default', name: 'web' }

testInvalidObjects(ipAddress, [
  ['valid', { spec: { parentRef } }, []],
  ['no parent', {}, ['spec.parentRef: Required value']],
  [
    'a consumer without a name',
    { spec: { parentRef: { group: 'Bad', resource: 'services' } } },
    ['spec.parentRef.name: Required value', /^spec\.parentRef\.group: Invalid value: "Bad": a lowercase RFC 1123/],
  ],
])

test('an IPAddress is named after its address', () => {
  deepEqual(ipAddress.validateName('10.96.0.1'), [])
  deepEqual(ipAddress.validateName('FD00::1'), ['must be in canonical form ("fd00::1")'])
  deepEqual(ipAddress.validateName('010.96.0.1'), ['must not have leading 0s'])
  deepEqual(ipAddress.validateName('web'), ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'])
})

const ranges = (...cidrs: string[]) => ({ spec: { cidrs } })

testInvalidObjects(serviceCidr, [
  ['valid', ranges('10.96.0.0/12', 'fd00::/108'), []],
  ['no range', {}, ['spec.cidrs: Required value: at least one CIDR required']],
  [
    'three ranges',
    ranges('10.0.0.0/8', 'fd00::/108', '11.0.0.0/8'),
    [/^spec\.cidrs: .*: may only hold up to 2 values$/],
  ],
  [
    'no range at all',
    ranges('10.0.0.0'),
    [/^spec\.cidrs\[0\]: Invalid value: "10\.0\.0\.0": must be a valid CIDR value/],
  ],
  [
    'ranges with other spellings',
    ranges('10.0.0.0/08', 'FD00::/108'),
    [
      'spec.cidrs[0]: Invalid value: "10.0.0.0/08": must not have leading 0s in IP or prefix length',
      'spec.cidrs[1]: Invalid value: "FD00::/108": must be in canonical form ("fd00::/108")',
    ],
  ],
  [
    'IPv4 in IPv6 notation, and bits after the prefix',
    ranges('::ffff:10.0.0.0/104', '10.0.0.1/8'),
    [
      'spec.cidrs[0]: Invalid value: "::ffff:10.0.0.0/104": must not have an IPv4-mapped IPv6 address',
      'spec.cidrs[1]: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length',
    ],
  ],
  [
    'two ranges of one family',
    ranges('10.0.0.0/8', '11.0.0.0/8'),
    [
      'spec.cidrs: Invalid value: ["10.0.0.0/8","11.0.0.0/8"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
    ],
  ],
])

test('immutable fields', () => {
  const before = ranges('10.0.0.0/8')
  deepEqual(
    [
      updateErrorsOf(serviceCidr, before, ranges('10.0.0.0/8', 'fd00::/108')),
      updateErrorsOf(serviceCidr, before, ranges('11.0.0.0/8')),
      updateErrorsOf(serviceCidr, before, ranges()),
      updateErrorsOf(ipAddress, { spec: { parentRef } }, { spec: { parentRef: { ...parentRef, name: 'db' } } }),
      updateErrorsOf(ingressClass, { spec: { controller: 'a.b/c' } }, { spec: { controller: 'a.b/d' } }),
    ],
    [
      [],
      ['spec.cidrs[0]: Invalid value: "11.0.0.0/8": field is immutable'],
      ['spec.cidrs: Invalid value: []: field is immutable'],
      [
        'spec.parentRef: Invalid value: {"Group":"","Resource":"services","Namespace":"default","Name":"db"}: field is immutable',
      ],
      ['spec.controller: Invalid value: "a.b/d": field is immutable'],
    ],
  )
})

test('the columns', () => {
  const rules = ['a.com', 'b.com', 'c.com', 'd.com'].map((host) => ({ host }))
  const status = { loadBalancer: { ingress: [{ ip: '10.0.0.2' }, { hostname: 'lb' }, { ip: '10.0.0.2' }] } }
  deepEqual(
    [
      cellsOf(ingress, { spec: { rules, ingressClassName: 'nginx', tls: [{}] }, status }),
      cellsOf(ingress, routing({})),
      cellsOf(ingressClass, classOf({ kind: 'P', name: 'p', apiGroup: 'b.c' })),
      cellsOf(ingressClass, { spec: { controller: 'a.b/c' } }),
      cellsOf(ipAddress, { spec: { parentRef } }),
      cellsOf(ipAddress, { spec: { parentRef: { group: 'b.c', resource: 'gateways', name: 'g' } } }),
      cellsOf(networkPolicy, { spec: { podSelector: { matchLabels: { a: 'b' } } } }),
      cellsOf(networkPolicy, {}),
      cellsOf(serviceCidr, ranges('10.0.0.0/8', 'fd00::/108')),
    ],
    [
      ['x', 'nginx', 'a.com,b.com,c.com + 1 more...', '10.0.0.2,lb', '80, 443', '60s'],
      ['x', '<none>', '*', '', '80', '60s'],
      ['x', 'example.com/nginx', 'P.b.c/p', '60s'],
      ['x', 'a.b/c', '<none>', '60s'],
      ['x', 'services/default/web'],
      ['x', 'gateways.b.c/g'],
      ['x', 'a=b', '60s'],
      ['x', '<none>', '60s'],
      ['x', '10.0.0.0/8,fd00::/108', '60s'],
    ],
  )
})
