import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../base/observability/metrics.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { ClientCertificate } from '../../platform/http/listener.ts'
import { CredentialMetrics } from '../metrics/credential-metrics.ts'
import { clientCertificates } from './client-certificates.ts'

const jane: ClientCertificate = {
  commonName: 'jane',
  organizations: ['crew'],
  fingerprint: 'ab',
  trustedFor: ['users'],
  validToMs: Date.UTC(2100, 0),
}

/** As upstream: a certificate that is not valid is refused with 401; without one a request may be anonymous. */
const table: [name: string, certificate: ClientCertificate | undefined, outcome: string][] = [
  ['none', undefined, 'unknown'],
  ['a valid one', jane, 'jane'],
  ['one without a user name', { ...jane, commonName: '' }, 'unknown'],
  ['one of the front proxy', { ...jane, trustedFor: ['proxies'] }, 'the client certificate is not valid'],
  [
    'one of an unknown authority, or one that has expired',
    { ...jane, trustedFor: [] },
    'the client certificate is not valid',
  ],
]
const outcomeOf = async (
  authenticator: ReturnType<typeof clientCertificates>,
  certificate: ClientCertificate | undefined,
) => {
  const presented = { kind: 'presented', certificate, headers: {}, headerValues: () => [] } as const
  const answer = await authenticator.authenticate(presented, new AbortController().signal)
  return answer.kind === 'authenticated' ? answer.user.name : answer.kind === 'rejected' ? answer.reason : answer.kind
}
for (const [name, certificate, outcome] of table)
  test(`a certificate: ${name}`, async () =>
    equal(
      await outcomeOf(
        clientCertificates(['api'], { clock: new VirtualClock(), metrics: new CredentialMetrics(new Metrics()) }),
        certificate,
      ),
      outcome,
    ))
