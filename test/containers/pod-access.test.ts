// Pods reach the API server, although it listens on loopback, the DNS server and each other through Services.
import { equal, match } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { kubectls } from '../kubectl.ts'
import { inNamespaces } from './namespaces.ts'
import { startRealUp } from './up.harness.ts'

const libraries = ['/lib', '/lib64'].filter((path) => existsSync(path))
const run = async (command: string, ...args: string[]) => (await promisify(execFile)(command, args)).stdout

inNamespaces(import.meta.url, () => {
  test('pods use the Services kubernetes and kube-dns, and their own', async () => {
    {
      await using up = await startRealUp()
      // The image contains only a shell: kubectl and its libraries are mounted from this machine.
      const kubectl = dirname(realpathSync(kubectls().at(-1)?.path ?? ''))
      const mounts = [[kubectl, '/programs'], ...libraries.map((path) => [realpathSync(path), path])]
      await up.apply({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'caller' },
        spec: {
          containers: [
            {
              name: 'c',
              image: up.image,
              volumeMounts: mounts.map(([, mountPath], index) => ({ name: `v${index}`, mountPath, readOnly: true })),
            },
          ],
          volumes: mounts.map(([path], index) => ({ name: `v${index}`, hostPath: { path } })),
        },
      })
      await up.k(['wait', 'pod/caller', '--for=condition=Ready', '--timeout=200s'])
      // As every client in a pod: address, authority and token are those of the pod.
      match(await up.sh('caller', 'HOME=/tmp /programs/kubectl auth whoami'), /system:serviceaccount:default:default/)
      equal(await up.sh('caller', 'echo $KUBERNETES_SERVICE_HOST'), '10.96.0.1\n')
      match(
        await up.sh('caller', 'cat /etc/resolv.conf'),
        /^search default\.svc\.cluster\.local .*\nnameserver 10\.96\.0\.10\n/,
      )
      match(await up.sh('caller', 'nslookup kubernetes.default.svc.cluster.local'), /Address.*: 10\.96\.0\.1\n/)

      await up.apply({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'server', labels: { app: 'server' } },
        spec: {
          terminationGracePeriodSeconds: 1,
          containers: [
            {
              name: 'c',
              image: up.image,
              command: ['/bin/sh', '-c', 'echo hello > /tmp/index.html; exec httpd -f -p 8080 -h /tmp'],
              readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
            },
          ],
        },
      })
      await up.apply({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'client' },
        spec: {
          containers: [{ name: 'c', image: up.image }],
          dnsPolicy: 'None',
          dnsConfig: {
            nameservers: ['10.96.0.10'],
            searches: ['default.svc.cluster.local'],
            options: [{ name: 'ndots', value: '2' }],
          },
        },
      })
      await up.apply({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'web' },
        spec: {
          type: 'NodePort',
          selector: { app: 'server' },
          ports: [{ port: 80, targetPort: 8080, nodePort: 30080 }],
        },
      })
      await up.k(['wait', 'pod/server', 'pod/client', '--for=condition=Ready', '--timeout=200s'])
      equal(
        await up.sh('client', 'cat /etc/resolv.conf'),
        'search default.svc.cluster.local\nnameserver 10.96.0.10\noptions ndots:2\n',
        'a policy of None',
      )
      match(await up.sh('client', 'nslookup web'), /Name:\s+web\.default\.svc\.cluster\.local\n/, 'its search path')
      // The image's wget is static and resolves no names, so nslookup and nc do its work. Rules follow the endpoints
      // within milliseconds; the client retries meanwhile.
      const address = `$(nslookup web.default.svc.cluster.local | sed -n 's/^Address: //p')`
      const get = `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 2 ${address} 80`
      const untilAnswered = `for i in 1 2 3 4 5 6 7 8 9 10; do ${get} | grep hello && break; sleep 0.2; done`
      equal(await up.sh('client', untilAnswered), 'hello\n', 'another pod reaches it')
      equal(await up.sh('server', untilAnswered), 'hello\n', 'a pod reaches itself through its Service')
      equal(await (await fetch('http://127.0.0.1:30080/')).text(), 'hello\n', 'the node port on loopback')
      match(await run('nft', 'list', 'tables'), /coxswain-node/)
      await up.k(['delete', 'pod', 'server', '--timeout=200s'])
      match(await up.sh('client', `${get} 2>&1; true`), /refused/, 'no endpoints: refused at once')
    }
    equal((await run('nft', 'list', 'tables')).includes('coxswain'), false, 'the rules go with the cluster')
    equal((await run('ip', '-o', 'link')).includes('coxswain'), false, 'the devices go with the cluster')
  })
})
