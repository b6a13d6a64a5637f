// The ConfigMap for extension servers has upstream's keys and values, and anyone with the reader role may read it.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import { frontProxyDefaults } from '../../apiserver/authentication/front-proxy.ts'
import { startCluster } from '../testing/start-cluster.ts'
import { dataOf } from './extension-authentication.ts'

test('the values are lists in JSON, with header names as upstream writes them', () => {
  deepEqual(dataOf({ authority: 'A', proxyAuthority: 'B' }, frontProxyDefaults), {
    'client-ca-file': 'A',
    'requestheader-allowed-names': '["front-proxy-client"]',
    'requestheader-client-ca-file': 'B',
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-uid-headers': '["X-Remote-Uid"]',
    'requestheader-username-headers': '["X-Remote-User"]',
  })
})

test('a cluster with a port publishes its authorities', async () => {
  await using cluster = await startCluster({ time: 'flowing', nodes: 0, controllerManagers: 0 })
  const ctx = context(new AbortController().signal)
  const { data = {} } = await cluster.client.of(configMap).get('extension-apiserver-authentication', 'kube-system', ctx)
  equal(data['client-ca-file']?.startsWith('-----BEGIN CERTIFICATE-----'), true)
  equal(data['requestheader-client-ca-file']?.startsWith('-----BEGIN CERTIFICATE-----'), true)
})
