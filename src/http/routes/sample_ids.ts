/**
 * Ids in the examples of the documentation. They exist nowhere: the test that sends the examples puts ids of
 * its own in their place.
 */
export const SAMPLE = {
  account: "acc_01k8zq4d6f7g8h9j0k1m2n3p4q",
  key: "key_01k8zq4d6f7g8h9j0k1m2n3p4q",
  response: "resp_01k8zq4d6f7g8h9j0k1m2n3p4q",
  adminToken: "adm_01k8zq4d6f7g8h9j0k1m2n3p4q",
  request: "req_01k8zq4d6f7g8h9j0k1m2n3p4q",
  image: "file_01k8zq4d6f7g8h9j0k1m2n3p4q",
  audio: "file_01k8zq5e7g8h9j0k1m2n3p4q5r",
  task: "task_01k8zq4d6f7g8h9j0k1m2n3p4q",
  stuckTask: "task_01k8zq5e7g8h9j0k1m2n3p4q5r",
  endpoint: "we_01k8zq4d6f7g8h9j0k1m2n3p4q",
  delivery: "dlv_01k8zq4d6f7g8h9j0k1m2n3p4q01",
  email: "ada@example.com",
  signature: "1-Q2hhbmdlIHRoaXMgc2lnbmF0dXJlIGZpcnN0IG9rYXk",
} as const;
