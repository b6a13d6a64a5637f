// Certificates through the tools of users: a request created with openssl, approved or denied with kubectl, and used.
import { equal, match } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { kubectls, runKubectl } from '../kubectl.ts'
import { startUp } from '../process.ts'

const run = promisify(execFile)

const kubectl = kubectls().at(-1)
if (kubectl === undefined) throw new Error('there is no kubectl')

test(`kubectl ${kubectl.version}: certificates are requested, approved, denied and used`, async () => {
  await using up = await startUp('--store', 'memory', '--nodes', '0')
  const ask = (args: string[], input?: string) =>
    runKubectl(kubectl, up.kubeconfig, args, input === undefined ? {} : { input })
  const k = async (...args: string[]) => {
    const { code, out, err } = await ask(args)
    equal(code, 0, `kubectl ${args.join(' ')}: ${err}`)
    return out
  }
  const [keyFile, requestFile, certificateFile] = ['jane.key', 'jane.csr', 'jane.crt'].map((name) =>
    join(up.folder, name),
  ) as [string, string, string]
  // A key on another curve, signed with a digest of a different size.
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp384r1', '-nodes', '-keyout', keyFile]
  await run('openssl', ['req', '-new', ...key, '-sha256', '-out', requestFile, '-subj', '/O=dev/CN=jane'])
  const request = (await readFile(requestFile)).toString('base64')
  const object = (name: string, signerName = 'kubernetes.io/kube-apiserver-client') =>
    JSON.stringify({
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name },
      spec: { request, signerName, usages: ['client auth'], expirationSeconds: 86_400 },
    })
  for (const name of ['jane', 'no']) equal((await ask(['create', '-f', '-'], object(name))).code, 0)
  match(
    await k('get', 'csr', 'jane', '--no-headers'),
    /^jane +\S+ +kubernetes.io\/kube-apiserver-client +kubernetes-admin +24h +Pending\n$/,
  )
  equal(await k('certificate', 'approve', 'jane'), 'certificatesigningrequest.certificates.k8s.io/jane approved\n')
  equal(await k('certificate', 'deny', 'no'), 'certificatesigningrequest.certificates.k8s.io/no denied\n')
  await k('wait', 'csr', 'jane', '--for=jsonpath={.status.certificate}', '--timeout=200s')
  match(await k('get', 'csr', 'jane', '--no-headers'), / Approved,Issued\n$/)
  match(await k('get', 'csr', 'no', '--no-headers'), / Denied\n$/)
  const issued = await k('get', 'csr', 'jane', '-o', 'jsonpath={.status.certificate}')
  await writeFile(certificateFile, Buffer.from(issued, 'base64'))
  const { stdout } = await run('openssl', [
    'x509',
    '-in',
    certificateFile,
    '-noout',
    '-subject',
    '-ext',
    'extendedKeyUsage',
  ])
  match(stdout, /subject=O ?= ?dev, CN ?= ?jane\n/)
  match(stdout, /TLS Web Client Authentication/)
  const asJane = ['--client-certificate', certificateFile, '--client-key', keyFile]
  match(await k('auth', 'whoami', ...asJane, '-o', 'jsonpath={.status.userInfo}'), /"dev".*"username":"jane"/)
  match((await ask(['get', 'pods', ...asJane])).err, /User "jane" cannot list resource "pods"/)
})
