// Addresses and ranges: allocation, conflicts, IPAddress and ServiceCIDR objects.
import {
  create,
  createAddress,
  createRange,
  dryRun,
  patch,
  ranges,
  read,
  readAddress,
  remove,
  type Scenario,
} from '../scenario.ts'

export const addressScenarios: readonly Scenario[] = [
  {
    name: 'addresses that cannot be allocated',
    steps: [
      create('a', {
        clusterIP: '10.96.0.70',
        clusterIPs: ['10.96.0.70', 'fd00:96::70'],
        ipFamilyPolicy: 'RequireDualStack',
      }),
      create('b', { clusterIP: '10.96.0.70' }),
      create('b', { clusterIP: 'fd00:96::70' }),
      create('b', {
        clusterIP: '10.96.0.71',
        clusterIPs: ['10.96.0.71', 'fd00:96::70'],
        ipFamilyPolicy: 'PreferDualStack',
      }),
      create('b', { clusterIP: '10.96.0.0' }),
      create('b', { clusterIP: '10.96.255.255' }),
      create('b', { clusterIP: 'fd00:96::' }),
      create('b', { clusterIP: 'fd00:96::ff' }),
      create('c', { clusterIP: '1.2.3.4' }),
      create('c', { clusterIP: 'fd00:97::1' }),
      create('c', { clusterIP: '10.96.0.1' }),
      create('c', { clusterIP: '127.0.0.1' }),
      create('c', { clusterIP: 'FD00:96::0072' }),
      dryRun(create('d', { clusterIP: '10.96.0.70' })),
      dryRun(create('d', { clusterIP: '10.96.0.73' })),
      readAddress('10.96.0.70'),
      readAddress('fd00:96::70'),
      readAddress('10.96.0.73'),
      remove('a'),
      readAddress('fd00:96::70'),
    ],
  },
  {
    name: 'IPAddress objects',
    steps: [
      createAddress('10.96.0.80', { resource: 'services', namespace: 'default', name: 'x' }),
      create('a', { clusterIP: '10.96.0.80' }),
      createAddress('010.096.0.081', { resource: 'services', name: 'x' }),
      createAddress('fd00:96:0::81', { resource: 'services', name: 'x' }),
      createAddress('nothing', { resource: 'services', name: 'x' }),
      createAddress('10.96.0.82'),
      createAddress('10.96.0.82', { resource: '', name: '' }),
      createAddress('10.96.0.83', { group: 'a_b', resource: 'services', name: 'x' }),
      {
        method: 'PATCH',
        path: '/apis/networking.k8s.io/v1/ipaddresses/10.96.0.80',
        body: { spec: { parentRef: { resource: 'services', name: 'y' } } },
      },
      { method: 'DELETE', path: '/apis/networking.k8s.io/v1/ipaddresses/10.96.0.80' },
    ],
  },
]

export const rangeScenarios: readonly Scenario[] = [
  {
    name: 'ServiceCIDR objects',
    steps: [
      read(`${ranges}/kubernetes`),
      createRange('a', '10.97.0.0/24'),
      createRange('b', '10.97.1.0/24', '10.97.2.0/24'),
      createRange('b', '10.97.1.5/24'),
      createRange('b', '10.097.1.0/24'),
      createRange('b', 'FD00:97::/112'),
      createRange('b', 'fd00:97::5/112'),
      createRange('b', 'nothing'),
      createRange('b'),
      createRange('b', '10.97.1.0/24', 'fd00:97::/112', '10.97.3.0/24'),
      { method: 'PATCH', path: `${ranges}/a`, body: { spec: { cidrs: ['10.97.0.0/24', 'fd00:98::/112'] } } },
      { method: 'PATCH', path: `${ranges}/a`, body: { spec: { cidrs: ['10.98.0.0/24'] } } },
      { method: 'DELETE', path: `${ranges}/a` },
      read(`${ranges}/a`),
      patch('kubernetes', { clusterIP: '10.96.0.90' }),
    ],
  },
]
