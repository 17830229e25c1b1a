import { createApp } from "vue";
import { createRouter, createWebHistory } from "vue-router";
import App from "./App.vue";
import Ports from "./Ports.vue";

const router = createRouter({
  history: createWebHistory(),
  routes: [
    { path: "/", component: Ports },
    { path: "/ports/:name", component: () => import("./Port.vue"), props: true },
    { path: "/:rest(.*)*", component: { render: () => "No such page in this table" } },
  ],
});
createApp(App).use(router).mount("#app");
