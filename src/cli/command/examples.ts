// Examples in the help of each command. A test parses all of them.

export type Example = readonly [command: string, what: string]

export const examples: Readonly<Record<string, readonly Example[]>> = {
  agent: [
    [
      'coxswain agent --server https://192.0.2.1:6443 --token-file token',
      'this machine joins the cluster of the token',
    ],
    ['coxswain agent', 'the same machine again: it has its certificate and knows the API servers'],
  ],
  announcer: [
    [
      'coxswain announcer --kubeconfig announcer.kubeconfig --load-balancer-addresses 10.0.0.240-10.0.0.250',
      'load balancers of a cluster with an address pool',
    ],
  ],
  apiserver: [['coxswain apiserver --store etcd=http://127.0.0.1:2379', 'an API server on an etcd of this machine']],
  'cloud-controller-manager': [
    [
      'coxswain cloud-controller-manager --kubeconfig cloud.kubeconfig --cloud-provider-socket /run/cloud.sock',
      'the controllers of a cloud',
    ],
  ],
  completion: [
    ['coxswain completion bash', 'print it; to load it: source <(coxswain completion bash)'],
    ['coxswain completion fish', 'to load it: coxswain completion fish | source'],
  ],
  'controller-manager': [['coxswain controller-manager --kubeconfig controller-manager.kubeconfig', 'all controllers']],
  dns: [['coxswain dns --kubeconfig dns.kubeconfig --bind-address 10.0.0.1', 'the names of any cluster']],
  down: [
    ['coxswain down', 'stop it; containers keep running, and the next start adopts them'],
    ['coxswain down --containers', 'end the containers too'],
  ],
  etcd: [
    ['coxswain etcd', 'serve it on 127.0.0.1:2379, with the data in default.etcd'],
    [
      'coxswain etcd --data-dir data --listen-client-urls http://127.0.0.1:0 --unsafe-no-fsync',
      'a store for a test, on any free port',
    ],
  ],
  flow: [
    ['coxswain flow deployment/web', 'what happened to a Deployment'],
    ['coxswain flow pod web-0 -n shop -w', 'a pod of the namespace shop, and what happens next'],
    ['coxswain flow job/backup -A', 'wherever there is a Job of that name'],
    ['coxswain flow deployment/web -o mermaid', 'a diagram for a web page'],
    ['coxswain flow pod/web-0 --stages', 'what the API server did with each request'],
  ],
  image: [
    ['coxswain image load app:1', 'an image of Docker, for pods of this machine'],
    ['coxswain image load app.tar', 'an image written by docker save, for pods of this machine'],
    ['coxswain image load - --data-dir /tmp/a', 'one from standard input, for another data directory'],
    ['coxswain image list', 'what the node has'],
  ],
  kubectl: [
    ['coxswain kubectl get pods -A', 'with the cluster of this machine'],
    ['coxswain kubectl --name dev get nodes', 'with the one that was started with --name dev'],
  ],
  list: [
    ['coxswain list', 'all clusters'],
    ['coxswain list -o name', 'their names, for a script'],
  ],
  k3s: [
    [
      'coxswain k3s server --tls-san=cluster.example.org',
      'as the container of k3s is started, on port 6443 of all addresses',
    ],
  ],
  'kube-apiserver': [
    [
      'coxswain kube-apiserver --etcd-servers http://127.0.0.1:2379 --cert-dir certs --client-ca-file certs/ca.crt',
      'with the certificates of another program',
    ],
  ],
  kubelet: [
    ['coxswain kubelet --bootstrap-kubeconfig join.kubeconfig', 'this machine joins a cluster'],
    ['coxswain kubelet --kubeconfig k --runtime simulated', 'a node without containers'],
  ],
  kwok: [
    ['coxswain kwok --kubeconfig admin.kubeconfig', 'simulates the nodes with the annotation kwok.x-k8s.io/node'],
    [
      'coxswain kwok --kubeconfig admin.kubeconfig --manage-all-nodes --config stages.yaml',
      'all nodes, with stages of a file',
    ],
  ],
  lab: [
    ['coxswain lab', 'the situations'],
    ['coxswain lab crash-loop', 'a cluster with a container that ends again and again'],
  ],
  node: [
    [
      'coxswain node drain worker --ignore-daemonsets',
      'move its pods to other nodes, before an upgrade of the machine',
    ],
    ['coxswain node remove worker --timeout 10m', 'the machine leaves the cluster'],
  ],
  proxy: [
    ['coxswain proxy --kubeconfig proxy.kubeconfig --cluster-cidr 10.244.0.0/16', 'the Services of any cluster'],
    ['coxswain proxy --cleanup', 'remove the rules of the proxy'],
  ],
  registry: [
    ['coxswain registry', 'docker push localhost:5001/app:1, for pods with that image'],
    ['coxswain registry --port 5002 --folder ~/images --max-gigabytes 10', 'a smaller one elsewhere'],
  ],
  reset: [['coxswain reset --yes', 'remove the cluster of this machine']],
  restore: [['coxswain restore backup.db', 'restore the contents of the snapshot']],
  member: [
    ['coxswain member list', 'the members of etcd beside the servers'],
    ['coxswain member remove server-3-1f2e3d4c', 'a member whose machine is lost'],
    ['coxswain member defragment', 'return free space of all members to the file system'],
  ],
  rotate: [
    ['coxswain rotate ca', 'new CAs sign certificates'],
    ['coxswain rotate ca --retire', 'later: the earlier CAs are no longer trusted'],
    ['coxswain rotate service-account-key', 'a new key signs the tokens of ServiceAccounts'],
    ['coxswain rotate encryption-key', 'Secrets are encrypted at rest, with a new key'],
    ['coxswain rotate service-account-key --retire', 'an hour later: tokens of the earlier key are no longer accepted'],
  ],
  scheduler: [['coxswain scheduler --kubeconfig scheduler.kubeconfig', 'the scheduler alone']],
  server: [
    ['coxswain server --init --bind 192.0.2.1', 'the first machine of a control plane'],
    [
      `coxswain server --join https://192.0.2.1:6443 --token K10${'0'.repeat(64)}::abcdef.0123456789abcdef.${'0'.repeat(64)}`,
      'a further one, with a token of coxswain token create --server',
    ],
  ],
  service: [
    ['coxswain service install agent', 'with the flags in /etc/coxswain/config.yaml'],
    ['coxswain service install up --dry-run -- --bind 192.0.2.10', 'what would be written'],
    ['coxswain service uninstall agent', 'end it, and remove its unit'],
  ],
  snapshot: [
    ['coxswain snapshot backup.db', 'copy all objects while the cluster runs'],
    [
      'coxswain snapshot backup --volumes --passphrase-file phrase',
      'with the keys and the content of volumes, encrypted',
    ],
  ],
  status: [
    ['coxswain status', 'the cluster of this machine'],
    ['coxswain status --data-dir /tmp/a', 'one that was started with --data-dir'],
  ],
  token: [
    ['coxswain token create --print-join-command', 'the command that another machine joins with'],
    ['coxswain token create --server --print-join-command', 'the command that another server joins with'],
    ['coxswain token create --ttl 10m', 'a token for a kubelet of upstream'],
    ['coxswain token list', 'the tokens, without their secrets'],
    ['coxswain token delete abcdef', 'the token with this id cannot be used any more'],
  ],
  tools: [['coxswain tools link bin', 'executables for envtest, in the folder bin']],
  top: [
    ['coxswain top', 'the pods of the namespace; ? shows the keys'],
    ['coxswain top deployments -A', 'the Deployments of all namespaces'],
  ],
  ui: [
    ['coxswain ui', 'the web UI as the user of the kubeconfig, until Ctrl-C'],
    ['coxswain ui --open --context staging', 'another cluster, in your browser at once'],
    ['coxswain ui --print', 'a link to the page that the API server serves'],
  ],
  up: [
    ['coxswain up', 'a cluster on port 6443, stored on disk'],
    ['coxswain up --runtime simulated --nodes 10', 'ten nodes without containers'],
    ['coxswain up --detach --wait', 'one in the background, whose nodes are ready when the command returns'],
    ['coxswain up --store memory --port 0 --data-dir /tmp/a', 'a second one, in memory only'],
  ],
  version: [],
  why: [
    ['coxswain why', 'everything that is wrong in the cluster, the most severe first'],
    ['coxswain why --exit-code -n shop', 'the same for a namespace; exits with 1 if something is wrong'],
    ['coxswain why deployment/web', 'why a Deployment is not ready'],
    ['coxswain why pod web-0 -n shop', 'what a pod waits for, and what the scheduler decided'],
    ['coxswain why ns/shop', 'why a namespace is not deleted yet'],
  ],
}
