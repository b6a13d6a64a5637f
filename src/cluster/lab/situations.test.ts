// What `why` says about each situation of the lab, in full. test/why runs its commands.
import { equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { explainBroken, isRepaired, startBroken } from './broken-cluster.ts'
import { situations } from './situations.ts'

const expected: Readonly<Record<string, string>> = {
  'bad-image': `deployment/shop
  It needs 1 pod: 1 up to date, 0 available, 1 in total.
  Pod shop-cd4cdb6c-klbrn: Container shop cannot start, because its image ngnix:1.29 cannot be pulled (ImagePullBackOff): image "ngnix:1.29" does not exist.
  Node node-0 is simulated: its containers are functions, and its capacity is configured.

Fix: kubectl set image deployment/shop shop=NEW_IMAGE -n default
`,
  'crash-loop': `deployment/worker
  It needs 1 pod: 1 up to date, 0 available, 1 in total.
  Pod worker-84856f8b65-klbrn: Container worker (worker:1) ends again and again (CrashLoopBackOff). It was restarted 3 times. It last exited with code 3 (Error) at 2030-01-01T00:00:30Z. The kubelet waits 40s before it starts it again.
  Its last output, of kubectl logs worker-84856f8b65-klbrn -c worker -n default:
  | worker 1.4.0
  | connecting to postgres://***@db:5432/orders
  | fatal: DB_PASSWORD=*** was rejected
  Node node-0 is simulated: its containers are functions, and its capacity is configured.
`,
  'readiness-probe': `deployment/web
  It needs 1 pod: 1 up to date, 0 available, 1 in total.
  Pod web-5f4bb8d8c9-klbrn: Container web has been running since 2030-01-01T00:00:00Z, but its readiness probe fails: HTTP GET /healthz on port 8081 every 5 s: Get "http://10.244.0.2:8081/healthz": dial tcp 10.244.0.2:8081: connect: connection refused (13 times, last at 2030-01-01T00:01:00Z). Nothing listens on port 8081; container web declares port 8080.
  Node node-0 is simulated: its containers are functions, and its capacity is configured.

Fix: kubectl patch deployment/web --type=json -p '[{"op":"replace","path":"/spec/template/spec/containers/0/readinessProbe/httpGet/port","value":8080}]' -n default
`,
  'liveness-probe': `deployment/api
  It needs 1 pod: 1 up to date, 0 available, 1 in total.
  Pod api-954f5fbd-klbrn: Container api is restarted again and again (3 times, last at 2030-01-01T00:00:38Z), because its liveness probe fails: a TCP connection to port 9090 every 2 s: dial tcp 10.244.0.2:9090: connect: connection refused (7 times, last at 2030-01-01T00:00:36Z). Nothing listens on port 9090; container api declares port 8080.
  Node node-0 is simulated: its containers are functions, and its capacity is configured.

Fix: kubectl patch deployment/api --type=json -p '[{"op":"replace","path":"/spec/template/spec/containers/0/livenessProbe/tcpSocket/port","value":8080}]' -n default
`,
  'wrong-selector': `service/web
  It has no endpoints: no pod in its namespace has the labels app=wep.
  The nearest pod is web-76f6b76dcd-klbrn: its label app is "web" instead of "wep".

Fix: kubectl set selector service/web app=web -n default
`,
  'missing-secret': `pod/mailer
  Container mailer cannot start, because its volume login needs the Secret smtp-login, which does not exist in the namespace default.
  Node node-0 is simulated: its containers are functions, and its capacity is configured.

Fix: kubectl create secret generic smtp-login --from-literal=KEY=VALUE -n default
`,
  'unschedulable-cpu': `deployment/big
  It needs 1 pod: 1 up to date, 0 available, 1 in total.
  Pod big-84666c8f9d-klbrn: It cannot be scheduled: Unschedulable: 0/2 nodes are available: 2 Insufficient cpu. It requests 64 CPUs; the largest node, node-0, has 8 of 8 CPUs free.
  The nodes node-0 and node-1 are simulated: their containers are functions, and their capacity is configured.

Fix: kubectl set resources deployment/big -c big --requests=cpu=8 -n default
`,
  'node-selector': `deployment/cache
  It needs 1 pod: 1 up to date, 0 available, 1 in total.
  Pod cache-56bf947644-klbrn: It cannot be scheduled: Unschedulable: 0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. 2 nodes (node-0 and node-1) do not have the label disk=ssd of its nodeSelector (node node-1 has disk=hdd).
  The nodes node-0 and node-1 are simulated: their containers are functions, and their capacity is configured.

Fix: kubectl label node node-0 disk=ssd
`,
  taint: `deployment/train
  It needs 1 pod: 1 up to date, 0 available, 1 in total.
  Pod train-6747b5594b-klbrn: It cannot be scheduled: Unschedulable: 0/2 nodes are available: 2 node(s) had untolerated taint(s). 2 nodes (node-0 and node-1) have the taint dedicated=gpu:NoSchedule, which it does not tolerate; it needs the toleration {"key":"dedicated","operator":"Equal","value":"gpu","effect":"NoSchedule"}.
  The nodes node-0 and node-1 are simulated: their containers are functions, and their capacity is configured.

Fix: kubectl patch deployment/train --type=json -p '[{"op":"add","path":"/spec/template/spec/tolerations","value":[{"key":"dedicated","operator":"Equal","value":"gpu","effect":"NoSchedule"}]}]' -n default
`,
  'missing-storage-class': `deployment/files
  It needs 1 pod: 1 up to date, 0 available, 1 in total.
  Pod files-84584ffcb-klbrn: It cannot be scheduled: Unschedulable: 0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. Its claim files is not bound to a volume: the StorageClass fast does not exist. The cluster has standard.
  The nodes node-0 and node-1 are simulated: their containers are functions, and their capacity is configured.

Fix: kubectl get pvc/files -o yaml -n default | sed 's/storageClassName: fast/storageClassName: standard/' | kubectl replace --force -f -
`,
  'access-mode': `persistentvolumeclaim/shared
  It is not bound to a volume: it has no storage class, so it needs a PersistentVolume that an administrator creates; of 1 available volume without a class none fits: disk-1 has the access mode ReadWriteOnce and not ReadWriteMany.

Fix: kubectl get pvc/shared -o yaml -n default | sed s/ReadWriteMany/ReadWriteOnce/ | kubectl replace --force -f -
`,
  'failed-job': `job/migrate
  It has failed: BackoffLimitExceeded: Job has reached the specified backoff limit.
  Pod migrate-7n7k7: It has failed: Container migrate exited with code 2 (Error).
  Its last output, of kubectl logs migrate-7n7k7 -c migrate -n default:
  | migrating orders
  | ERROR: relation "orders" does not exist
  Node node-0 is simulated: its containers are functions, and its capacity is configured.
`,
  'cron-job-without-date': `cronjob/yearly
  Its schedule "0 3 31 2 *" matches no date within five years, so it never starts a Job.

Fix: kubectl patch cronjob/yearly --type=merge -p '{"spec":{"schedule":"0 3 28 2 *"}}' -n default
`,
  'exceeded-quota': `deployment/api
  Its pods cannot be created: FailedCreate: pods "api-64f8c88bc6-fcghx" is forbidden: exceeded quota: team, requested: pods=1, used: pods=2, limited: pods=2.
  It needs 3 pods: 2 up to date, 2 available, 2 in total.

Fix: kubectl patch quota/team --type=merge -p '{"spec":{"hard":{"pods":"4"}}}' -n default
`,
  'autoscaler-without-requests': `horizontalpodautoscaler/web
  It does not scale Deployment/web, because a metric cannot be used: failed to get cpu utilization: missing request for cpu in container web of Pod web-76f6b76dcd-klbrn. Utilization is a percentage of requests: every container needs one.

Fix: kubectl set resources deployment/web -c web --requests=cpu=100m -n default
`,
  'ingress-without-service': `ingress/shop
  No ingress controller has assigned an address.
  Its backend Service shopp does not exist. Did you mean shop?
  No ingress controller has taken it: start that of Coxswain (coxswain up --ingress on), or another one.

Fix: kubectl patch ingress/shop --type=json -p '[{"op":"replace","path":"/spec/defaultBackend/service/name","value":"shop"}]' -n default
`,
  'missing-role': `rolebinding/bot
  It grants nothing: its Role pod-raeder does not exist in the namespace default. Did you mean pod-reader?

Fix: kubectl delete rolebinding bot -n default && kubectl create rolebinding bot --role=pod-reader --serviceaccount=default:bot -n default
`,
  'misspelt-subject': `rolebinding/bot
  Its subject, the ServiceAccount bott of the namespace default, does not exist. Did you mean bot?

Fix: kubectl patch rolebinding/bot --type=json -p '[{"op":"replace","path":"/subjects/0/name","value":"bot"}]' -n default
`,
  'refused-requests': `serviceaccount/bot
  Its requests are refused: list pods in the namespace default (1 time, last at 2030-01-01T00:00:02Z). No role is bound to it.

Fix: kubectl create role bot-pods --verb=get,list,watch --resource=pods -n default && kubectl create rolebinding bot-pods --role=bot-pods --serviceaccount=default:bot -n default
`,
  'webhook-without-service': `validatingwebhookconfiguration/policy
  Its webhook policy.example.com cannot be called: the Service default/policy does not exist. Its failure policy is Fail, so every request that it matches is rejected: CREATE of configmaps.

Fix: kubectl patch validatingwebhookconfiguration/policy --type=json -p '[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Ignore"}]'
`,
  'blocked-drain': `node/node-0
  Its drain is blocked: pod default/db-577c4b79cd-klbrn cannot be evicted because of the PodDisruptionBudget db. It allows no disruption: 1 of 1 pod is healthy, and 1 must be.
  It is cordoned: no new pods are scheduled on it.
  Node node-0 is simulated: its containers are functions, and its capacity is configured.

Fix: kubectl scale deployment/db --replicas=2 -n default
`,
  'stuck-namespace': `namespace/old
  It has been terminating since 2030-01-01T00:00:04Z and waits for its finalizer: the namespace controller removes kubernetes when everything in the namespace is deleted.
  The ConfigMap settings is left in it: it has been terminating since 2030-01-01T00:00:04Z and waits for its finalizer: no component of Coxswain removes example.com/hold: the controller that added it must do so. If that controller no longer runs, remove the finalizer.
  SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances.
  SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances.

Fix: kubectl patch configmap/settings --type=merge -p '{"metadata":{"finalizers":null}}' -n old
`,
}

for (const situation of situations)
  test(`situation ${situation.name} is explained`, async () => {
    await using cluster = await startBroken(situation)
    equal(await explainBroken(cluster, situation), expected[situation.name]) // safe name: a name of this table
    equal(await isRepaired(cluster, situation), false)
  })

test('every situation has an expected explanation, and a name of its own', () => {
  equal(Object.keys(expected).length, situations.length)
  equal(new Set(situations.map(({ name }) => name)).size, situations.length)
})

test('passwords in the output of containers are masked', () => {
  const all = Object.values(expected).join('')
  ok(all.includes('DB_PASSWORD=***') && !all.includes('hunter2'))
})
