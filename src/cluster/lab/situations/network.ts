// Situations of the network: a selector that matches nothing, an Ingress without its Service.
import { deployment, service } from './manifests.ts'
import { inDefault, type Situation } from './situation.ts'

export const wrongSelector: Situation = {
  name: 'wrong-selector',
  story: 'Connections to the Service web are refused.',
  asked: inDefault('service/web'),
  symptom: 'It has no endpoints',
  objects: [deployment('web'), service('web', { app: 'wep' })],
  hints: ['A Service sends connections to the pods that its selector matches.', 'kubectl get pods --show-labels'],
}

export const ingressWithoutService: Situation = {
  name: 'ingress-without-service',
  story: 'The Ingress shop answers every request with 503.',
  asked: inDefault('ingress/shop'),
  symptom: 'does not exist',
  objects: [
    deployment('shop'),
    service('shop', { app: 'shop' }),
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'IngressClass',
      metadata: { name: 'lab' },
      spec: { controller: 'example.com/lab' },
    },
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'shop', namespace: 'default' },
      spec: { ingressClassName: 'lab', defaultBackend: { service: { name: 'shopp', port: { number: 80 } } } },
    },
  ],
  hints: ['An Ingress sends requests to a Service.', 'kubectl get services shows what exists.'],
}
