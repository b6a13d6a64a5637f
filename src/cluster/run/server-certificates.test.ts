// Certificates that are replaced while a server runs.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterCertificates } from '../certificates/cluster-certificates.ts'
import { ServerCertificates } from './server-certificates.ts'

const named = (authority: string) =>
  ({
    authority,
    signer: { sign: () => `signed by ${authority}`, verifyRequest: () => authority === 'b' },
  }) as unknown as ClusterCertificates

test('uses get all certificates in order, one after the other', async () => {
  const certificates = new ServerCertificates(named('a'))
  const seen: string[] = []
  for (const use of ['first', 'second'])
    certificates.onChange(async ({ authority }) => {
      seen.push(`${use} begins ${authority}`)
      await Promise.resolve()
      seen.push(`${use} ends ${authority}`)
    })
  await Promise.all(['b', 'c'].map((each) => certificates.replace(() => Promise.resolve(named(each)))))
  deepEqual(
    seen,
    ['b', 'c'].flatMap((each) =>
      ['first', 'second'].flatMap((use) => [`${use} begins ${each}`, `${use} ends ${each}`]),
    ),
  )
  equal(certificates.current.authority, 'c')
})

test('the signer is the current one at each call', async () => {
  const certificates = new ServerCertificates(named('a'))
  const { signer } = certificates
  const sign = () => signer.sign({} as Parameters<typeof signer.sign>[0], [], 0)
  deepEqual([sign(), signer.verifyRequest('')], ['signed by a', false])
  await certificates.replace(() => Promise.resolve(named('b')))
  deepEqual([sign(), signer.verifyRequest('')], ['signed by b', true])
})

test('a failure is that of its caller, and the next certificates are used', async () => {
  const certificates = new ServerCertificates(named('a'))
  const used: string[] = []
  certificates.onChange(async ({ authority }) => {
    if (authority === 'b') throw new Error('the disk is full')
    await Promise.resolve()
    used.push(authority)
  })
  const failed = certificates.replace(() => Promise.resolve(named('b')))
  const after = certificates.replace(() => Promise.resolve(named('c')))
  await rejects(failed, /the disk is full/)
  await after
  deepEqual(used, ['c'])
  await rejects(
    certificates.replace(() => Promise.reject(new Error('ca.key is missing'))),
    /ca\.key is missing/,
  )
  equal(certificates.current.authority, 'c')
})
