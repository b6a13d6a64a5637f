// Tables for Services and Endpoints: defaults, what is rejected, what an update may not change, columns.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '../../meta/object.ts'
import { endpoints } from './service/endpoints.ts'
import { persistentVolume } from './volume/persistent-volume.ts'
import { service } from './service/service.ts'
import { cells, changeErrors, check, inSpec, made, ports, type Row, row } from './core-kinds.harness.ts'

const rangeError = 'must be between 1 and 65535, inclusive'

for (const each of [
  row(service, 'one port is enough', inSpec({ ports })),
  row(service, 'a headless one needs no ports', inSpec({ clusterIP: 'None', clusterIPs: ['None'] })),
  row(service, 'any other needs some', inSpec({}), 'spec.ports: Required value'),
  row(
    service,
    'a port of zero is also its target',
    inSpec({ ports: [{}] }),
    `spec.ports[0].port: Invalid value: 0: ${rangeError}`,
    `spec.ports[0].targetPort: Invalid value: 0: ${rangeError}`,
  ),
  row(
    service,
    'several ports have names of their own',
    inSpec({ ports: [{ port: 1 }, { port: 2, name: 'a' }, { port: 3, name: 'a' }, { port: 4, name: 'A' }] }),
    'spec.ports[0].name: Required value',
    'spec.ports[2].name: Duplicate value: "a"',
    'spec.ports[3].name: Invalid value: "A": a lowercase RFC 1123 label must consist…',
  ),
  row(
    service,
    'a port is there once for each protocol',
    inSpec({
      ports: ['a', 'b', 'c'].map((name, index) => ({ name, port: 80, protocol: index === 2 ? 'UDP' : 'TCP' })),
    }),
    'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
  ),
  row(
    service,
    'a target and a protocol have their forms',
    inSpec({ ports: [{ port: 80, targetPort: '1', appProtocol: '' }] }),
    'spec.ports[0].targetPort: Invalid value: "1": must contain at least one letter (a-z)',
    'spec.ports[0].appProtocol: Invalid value: "": name part must be non-empty',
    'spec.ports[0].appProtocol: Invalid value: "": name part must consist…',
  ),
  row(
    service,
    'node ports are for those who are reached at nodes',
    inSpec({ ports: [{ port: 80, nodePort: 30_000 }], externalTrafficPolicy: 'Local' }),
    "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
    'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
  ),
  row(
    service,
    'a node port is there once for each protocol',
    inSpec({
      type: 'NodePort',
      ports: ['a', 'b'].map((name, index) => ({ name, port: index + 1, nodePort: 30_000 })),
    }),
    'spec.ports[1].nodePort: Duplicate value: 30000',
  ),
  row(
    service,
    'what only load balancers have',
    inSpec({ ports, loadBalancerSourceRanges: ['10.0.0.0'], loadBalancerClass: 'a/b', healthCheckNodePort: 3 }),
    "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
    'spec.LoadBalancerSourceRanges[0]: Invalid value: "10.0.0.0": must be a valid CIDR value…',
    "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
    "spec.healthCheckNodePort: Invalid value: 3: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
  ),
  row(
    service,
    'an address must be one, and of its family',
    inSpec({ ports, clusterIP: 'here', clusterIPs: ['here'], externalIPs: ['127.0.0.1', 'there'] }),
    'spec.clusterIPs[0]: Invalid value: "here": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    'spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
    'spec.externalIPs[1]: Invalid value: "there": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
  ),
  row(
    service,
    'addresses and families go together',
    inSpec({ ports, clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', '10.0.0.2'], ipFamilies: ['IPv6', 'IPv6'] }),
    'spec.ipFamilies[1]: Duplicate value: "IPv6"',
    'spec.clusterIPs: Invalid value: ["10.0.0.1","10.0.0.2"]: may specify no more than one IP for each IP family',
    'spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`',
    'spec.clusterIPs[1]: Invalid value: "10.0.0.2": expected an IPv6 value as indicated by `ipFamilies[1]`',
  ),
  row(
    service,
    'an external name has no address',
    inSpec({ type: 'ExternalName', clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] }),
    'spec.clusterIPs: Forbidden: may not be set for ExternalName services',
    'spec.externalName: Required value',
  ),
  row(
    service,
    'affinity lasts a day at most',
    inSpec({ ports, sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86_401 } } }),
    'spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400',
  ),
  row(
    service,
    'traffic is distributed in known ways',
    inSpec({ ports, trafficDistribution: 'Far' }),
    'spec.trafficDistribution: Unsupported value: "Far": supported values: "PreferClose", "PreferSameNode", "PreferSameZone"',
  ),
  row(endpoints, 'nothing is needed', {}),
  row(
    endpoints,
    'a subset has addresses that can be reached',
    { subsets: [{}, { addresses: [{ ip: '::1' }, { ip: 'x', hostname: 'A' }], ports: [{ port: 0 }, { port: 1 }] }] },
    'subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`',
    'subsets[1].addresses[0].ip: Invalid value: "::1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
    'subsets[1].addresses[1].ip: Invalid value: "x": must be a valid IP address…',
    'subsets[1].addresses[1].hostname: Invalid value: "A": a lowercase RFC 1123 label…',
    'subsets[1].ports[0].name: Required value',
    `subsets[1].ports[0].port: Invalid value: 0: ${rangeError}`,
    'subsets[1].ports[1].name: Required value',
  ),
])
  check(each as Row<ApiObject>)

test('a Service gets the defaults of its type', () => {
  const plain = {
    ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
    sessionAffinity: 'None',
    internalTrafficPolicy: 'Cluster',
  }
  deepEqual(made(service, inSpec({ ports })).spec, { ...plain, type: 'ClusterIP' })
  deepEqual(made(service, inSpec({ ports, type: 'LoadBalancer', sessionAffinity: 'ClientIP' })).spec, {
    ...plain,
    type: 'LoadBalancer',
    sessionAffinity: 'ClientIP',
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } },
    externalTrafficPolicy: 'Cluster',
    allocateLoadBalancerNodePorts: true,
  })
  deepEqual(made(service, inSpec({ type: 'ExternalName', externalName: 'e' })).spec, {
    type: 'ExternalName',
    externalName: 'e',
    sessionAffinity: 'None',
  })
})

test('updates: addresses are only added and removed', () => {
  const of = (...clusterIPs: string[]) =>
    inSpec({
      ports,
      ...(clusterIPs.length === 0 ? {} : { clusterIP: clusterIPs[0], clusterIPs }),
      ipFamilies: ['IPv4'],
    })
  deepEqual(changeErrors(service, of('10.0.0.1'), of()), [])
  deepEqual(changeErrors(service, of(), of('10.0.0.1')), [
    'spec.clusterIPs[0]: Invalid value: []: primary clusterIP can not be unset',
  ])
  deepEqual(changeErrors(service, of('10.0.0.2'), of('10.0.0.1')), [
    'spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set',
  ])
  deepEqual(changeErrors(service, inSpec({ type: 'ExternalName', externalName: 'e' }), of('10.0.0.1')), [])
  const balanced = (loadBalancerClass: string) => inSpec({ ports, type: 'LoadBalancer', loadBalancerClass })
  deepEqual(changeErrors(service, balanced('b'), balanced('a')), [
    'spec.loadBalancerClass: Invalid value: "b": may not change once set',
  ])
})

test('columns: services and endpoints', () => {
  deepEqual(cells(service, inSpec({ selector: { a: 'b' }, ports: [{ port: 80 }, { port: 81, nodePort: 30_081 }] })), [
    'x',
    'ClusterIP',
    '<none>',
    '<none>',
    '80/TCP,81:30081/TCP',
    '60s',
    'a=b',
  ])
  const external = (body: object) => cells(service, body)[3]
  equal(external(inSpec({ type: 'LoadBalancer' })), '<pending>')
  const ingress = [{ hostname: 'h' }, { ip: '1.2.3.4' }]
  equal(
    external({ spec: { type: 'LoadBalancer', externalIPs: ['5.6.7.8'] }, status: { loadBalancer: { ingress } } }),
    '1.2.3.4,h,5.6.7.8',
  )
  equal(external(inSpec({ type: 'ExternalName', externalName: 'e.x' })), 'e.x')
  deepEqual(cells(service, inSpec({ clusterIP: 'None', clusterIPs: ['None'] })).slice(2), [
    'None',
    '<none>',
    '<none>',
    '60s',
    '<none>',
  ])
  const addresses = ['10.0.0.1', '10.0.0.2', 'fd00::1', '10.0.0.4'].map((ip) => ({ ip }))
  deepEqual(cells(endpoints, {}), ['x', '<none>', '60s'])
  equal(
    cells(endpoints, { subsets: [{ addresses, ports: [{ port: 80 }] }] })[1],
    '10.0.0.1:80,10.0.0.2:80,[fd00::1]:80 + 1 more...',
  )
})

test('names of Services are labels; others may have dots', () => {
  equal(service.validateName('9-good').length, 0)
  equal(service.validateName('a.b').length, 1)
  equal(persistentVolume.validateName('a.b').length, 0)
})
