import { deepEqual, doesNotThrow, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { checkSettings, sharedSettings, withSettings } from './shared-settings.ts'

const given = {
  serviceRangeFlags: { 'service-cluster-ip-range': '10.1.0.0/16' },
  nodeRangeFlags: { 'cluster-cidr': '10.2.0.0/16' },
  policyFlags: { 'service-account-issuer': 'https://issuer', 'audit-log-path': '/var/log/audit' },
}

test('what all servers have in common is shared, and nothing else', () => {
  const shared = {
    'service-cluster-ip-range': '10.1.0.0/16',
    'cluster-cidr': '10.2.0.0/16',
    'service-account-issuer': 'https://issuer',
  }
  deepEqual(sharedSettings(given), shared)
  deepEqual(sharedSettings({}), {})
  deepEqual(withSettings({ policyFlags: { 'audit-log-path': '/other' } }, shared), {
    ...given,
    policyFlags: { 'service-account-issuer': 'https://issuer', 'audit-log-path': '/other' },
  })
})

test('a flag that differs from that of the other servers is named', () => {
  const shared = { 'cluster-cidr': '10.2.0.0/16' }
  doesNotThrow(() => checkSettings(shared, { ...shared, 'service-account-issuer': 'x' }))
  throws(
    () => checkSettings({ 'cluster-cidr': '10.3.0.0/16' }, shared),
    /^Error: --cluster-cidr 10.3.0.0\/16: the other servers of the cluster have 10.2.0.0\/16$/,
  )
  throws(() => checkSettings({ 'service-account-issuer': 'x' }, shared), /have the default/)
})
