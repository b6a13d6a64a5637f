// What a new Service gets: families × policies × types, with and without addresses and a selector.
import { create, createOnly, dryRun, onePort, type Scenario, type Spec } from '../scenario.ts'

const policies = [undefined, 'SingleStack', 'PreferDualStack', 'RequireDualStack']
const families = [undefined, ['IPv4'], ['IPv6'], ['IPv4', 'IPv6'], ['IPv6', 'IPv4']]
const variants: readonly [name: string, make: (name: string, spec: Spec) => ReturnType<typeof create>][] = [
  ['ClusterIP', create],
  ['headless', (name, spec) => create(name, { clusterIP: 'None', ...spec })],
  ['headless without selector', (name, spec) => createOnly(name, { clusterIP: 'None', ...onePort, ...spec })],
]

const combination = (ipFamilyPolicy: string | undefined, ipFamilies: readonly string[] | undefined): Spec => ({
  ...(ipFamilyPolicy === undefined ? {} : { ipFamilyPolicy }),
  ...(ipFamilies === undefined ? {} : { ipFamilies }),
})

const ofVariant = ([name, make]: (typeof variants)[number]): Scenario => ({
  name: `families and policies: ${name}`,
  steps: policies.flatMap((policy, row) =>
    families.map((each, column) => make(`s${row}${column}`, combination(policy, each))),
  ),
})

export const familyScenarios: readonly Scenario[] = [
  ...variants.map(ofVariant),
  {
    name: 'families and policies: addresses',
    steps: [
      create('a', { clusterIP: '10.96.0.20' }),
      create('b', { clusterIP: 'fd00:96::20' }),
      create('c', { clusterIP: '10.96.0.21', clusterIPs: ['10.96.0.21', 'fd00:96::21'] }),
      create('d', { clusterIP: 'fd00:96::22', clusterIPs: ['fd00:96::22', '10.96.0.22'] }),
      create('e', { clusterIP: '10.96.0.23', ipFamilyPolicy: 'PreferDualStack' }),
      create('f', { clusterIP: 'fd00:96::24', ipFamilyPolicy: 'RequireDualStack' }),
      create('g', { clusterIP: '10.96.0.25', ipFamilies: ['IPv6'] }),
      create('h', { clusterIP: 'fd00:96::26', ipFamilies: ['IPv4', 'IPv6'] }),
      create('i', { clusterIPs: ['10.96.0.27'] }),
      create('j', { clusterIP: '10.96.0.28', clusterIPs: ['fd00:96::28'] }),
      create('k', { clusterIP: '10.96.0.29', clusterIPs: ['10.96.0.29', '10.96.0.30'] }),
      create('l', {
        clusterIP: '10.96.0.31',
        clusterIPs: ['10.96.0.31', 'fd00:96::31'],
        ipFamilyPolicy: 'SingleStack',
      }),
      create('m', { clusterIP: '10.96.0.32', clusterIPs: ['10.96.0.32', 'fd00:96::32'], ipFamilies: ['IPv6', 'IPv4'] }),
      create('n', { clusterIP: 'None', clusterIPs: ['None', 'fd00:96::33'] }),
      create('o', { clusterIP: 'fd00:96::34', ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'] }),
      create('p', { clusterIP: 'nothing' }),
      create('q', { ipFamilies: ['IPv5'] }),
      create('r', { ipFamilies: ['IPv4', 'IPv4'] }),
      create('s', { ipFamilies: ['IPv4', 'IPv6', 'IPv4'] }),
      create('t', { ipFamilyPolicy: 'Sometimes' }),
      create('u', { clusterIP: '', clusterIPs: ['', 'fd00:96::35'] }),
      create('v', { clusterIP: '10.96.0.36', clusterIPs: ['10.96.0.36', 'nothing'] }),
      create('w', {
        clusterIP: '10.96.0.37',
        clusterIPs: ['10.96.0.37', 'fd00:96::37'],
        ipFamilies: ['IPv4', 'IPv6'],
        ipFamilyPolicy: 'SingleStack',
      }),
      dryRun(create('x', { ipFamilyPolicy: 'PreferDualStack' })),
    ],
  },
]
