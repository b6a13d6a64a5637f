import { deepEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { k3sServerOf } from './k3s-options.ts'

const defaults = {
  dataDirectory: '/var/lib/rancher/k3s/server',
  kubeconfig: { path: '/etc/rancher/k3s/k3s.yaml', mode: 0o600 },
  flags: { 'data-dir': '/var/lib/rancher/k3s/server', bind: '0.0.0.0', 'ingress-address': '0.0.0.0' },
  notes: [],
}

test('k3s server without flags has the files of the image of k3s', () => deepEqual(k3sServerOf({}, {}), defaults))

const rows: [what: string, given: Parameters<typeof k3sServerOf>[0], flags: Record<string, string | boolean>][] = [
  ['no Ingresses', { disable: 'traefik' }, { ingress: 'off' }],
  ['no load balancers either', { disable: 'traefik,servicelb' }, { ingress: 'off', 'load-balancers': 'none' }],
  ['names in the certificate', { 'tls-san': 'a,10.0.0.1' }, { 'tls-san': 'a,10.0.0.1' }],
  ['an address and a port', { 'bind-address': '::', 'https-listen-port': '7443' }, { bind: '::', port: '7443' }],
  [
    'ranges',
    { 'cluster-cidr': '10.1.0.0/16', 'service-cidr': '10.2.0.0/16', 'service-node-port-range': '30000-30100' },
    {
      'cluster-cidr': '10.1.0.0/16',
      'service-cluster-ip-range': '10.2.0.0/16',
      'service-node-port-range': '30000-30100',
    },
  ],
  ['a longer log', { debug: true }, { verbose: true }],
  ['what has no effect', { snapshotter: 'native', 'disable-helm-controller': true }, {}],
]
for (const [what, given, flags] of rows)
  test(`flags of k3s become flags of up: ${what}`, () =>
    deepEqual(k3sServerOf(given, {}), { ...defaults, flags: { ...defaults.flags, ...flags } }))

test('a data directory contains the folder server, as that of k3s', () => {
  const { dataDirectory, flags } = k3sServerOf({ 'data-dir': '/data' }, {})
  deepEqual([dataDirectory, flags['data-dir']], ['/data/server', '/data/server'])
})

test('variables choose the kubeconfig unless flags do', () => {
  const environment = { K3S_KUBECONFIG_MODE: '644', K3S_KUBECONFIG_OUTPUT: '/output/kubeconfig.yaml' }
  deepEqual(k3sServerOf({}, environment).kubeconfig, { path: '/output/kubeconfig.yaml', mode: 0o644 })
  deepEqual(k3sServerOf({ 'write-kubeconfig': '/a', 'write-kubeconfig-mode': '0640' }, environment).kubeconfig, {
    path: '/a',
    mode: 0o640,
  })
})

test('what has no effect is named, without its value', () => {
  const { notes } = k3sServerOf({ disable: 'coredns,metrics-server,traefik' }, { K3S_TOKEN: 'secret', HOME: '/' })
  deepEqual(notes, [
    'coredns is part of Coxswain and stays',
    'metrics-server is part of Coxswain and stays',
    '$K3S_TOKEN has no effect',
  ])
})

test('an unknown component and a mode that is none are rejected', () => {
  throws(() => k3sServerOf({ disable: 'toString' }, {}), /--disable "toString" is none of coredns, local-storage/)
  for (const mode of ['rw', '6444', '888', '0o644'])
    throws(() => k3sServerOf({}, { K3S_KUBECONFIG_MODE: mode }), /of the kubeconfig is none such as 644/)
})
