// Updates between single-stack and dual-stack, and changes of families and addresses.
import { create, createOnly, onePort, patch, replace, type Scenario } from '../scenario.ts'

export const upgradeScenarios: readonly Scenario[] = [
  {
    name: 'a second family is added and removed',
    steps: [
      create('a'),
      patch('a', { ipFamilyPolicy: 'PreferDualStack' }),
      replace('a'),
      patch('a', { ipFamilyPolicy: 'SingleStack' }),
      patch('a', { ipFamilyPolicy: 'RequireDualStack' }),
      patch('a', { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'] }),
      patch('a', { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] }),
      patch('a', { ipFamilies: ['IPv4'] }),
      patch('a', { clusterIPs: null }),
      patch('a', { ipFamilies: ['IPv6', 'IPv4'] }),
      patch('a', { ipFamilies: null, ipFamilyPolicy: null }),
      patch('a', { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'] }),
    ],
  },
  {
    name: 'requested addresses are added, changed and removed',
    steps: [
      create('a', { clusterIP: '10.96.0.40' }),
      patch('a', { clusterIPs: ['10.96.0.40', 'fd00:96::40'] }),
      patch('a', { ipFamilyPolicy: 'PreferDualStack', clusterIPs: ['10.96.0.40', 'fd00:96::40'] }),
      patch('a', { clusterIPs: ['10.96.0.40', 'fd00:96::41'] }),
      patch('a', { clusterIPs: ['10.96.0.41', 'fd00:96::40'] }),
      patch('a', { clusterIP: '10.96.0.41' }),
      patch('a', { clusterIPs: ['10.96.0.40'] }),
      patch('a', { ipFamilyPolicy: 'SingleStack', clusterIPs: ['10.96.0.40'], ipFamilies: ['IPv4'] }),
      patch('a', { clusterIP: '' }),
      patch('a', { clusterIP: '', clusterIPs: [] }),
      patch('a', { clusterIP: 'None' }),
      patch('a', { clusterIP: 'None', clusterIPs: ['None'] }),
    ],
  },
  {
    name: 'headless Services are updated',
    steps: [
      create('a', { clusterIP: 'None' }),
      patch('a', { ipFamilyPolicy: 'PreferDualStack' }),
      patch('a', { ipFamilyPolicy: 'SingleStack' }),
      patch('a', { ipFamilyPolicy: 'RequireDualStack' }),
      patch('a', { ipFamilies: ['IPv4'] }),
      patch('a', { ipFamilies: ['IPv6', 'IPv4'] }),
      patch('a', { clusterIP: '10.96.0.50', clusterIPs: ['10.96.0.50'] }),
      createOnly('b', { clusterIP: 'None', ...onePort }),
      patch('b', { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'] }),
      patch('b', { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'] }),
      patch('b', { ipFamilyPolicy: 'RequireDualStack' }),
      patch('b', { selector: { app: 'b' } }),
    ],
  },
]
